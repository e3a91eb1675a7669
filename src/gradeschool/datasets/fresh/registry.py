"""The families by name."""

from __future__ import annotations

from collections.abc import Callable

from gradeschool.datasets.fresh.families.ages import ages
from gradeschool.datasets.fresh.families.averages import averages
from gradeschool.datasets.fresh.families.backward import backward
from gradeschool.datasets.fresh.families.collection import collection
from gradeschool.datasets.fresh.families.comparison import comparison
from gradeschool.datasets.fresh.families.groups import groups
from gradeschool.datasets.fresh.families.harvest import harvest
from gradeschool.datasets.fresh.families.measures import measures
from gradeschool.datasets.fresh.families.production import production
from gradeschool.datasets.fresh.families.ratios import ratios
from gradeschool.datasets.fresh.families.reading import reading
from gradeschool.datasets.fresh.families.recipes import recipes
from gradeschool.datasets.fresh.families.savings import savings
from gradeschool.datasets.fresh.families.search import legs, product, sharing, two_kinds
from gradeschool.datasets.fresh.families.shopping import shopping
from gradeschool.datasets.fresh.families.tanks import tanks
from gradeschool.datasets.fresh.families.tickets import tickets
from gradeschool.datasets.fresh.families.trips import trips
from gradeschool.datasets.fresh.families.wages import wages
from gradeschool.datasets.fresh.story import Story

Teller = Callable[[Story], None]
FORWARD: dict[str, Teller] = {
    one.__name__: one
    for one in (
        ages,
        tickets,
        tanks,
        savings,
        harvest,
        backward,
        averages,
        collection,
        comparison,
        groups,
        measures,
        production,
        ratios,
        reading,
        recipes,
        shopping,
        trips,
        wages,
    )
}
SEARCH: dict[str, Teller] = {one.__name__: one for one in (legs, product, sharing, two_kinds)}
FAMILIES = FORWARD | SEARCH
# Families about a person {A} in which a stray fact about that person cannot be misread.
WITH_ASIDES = frozenset(
    one.__name__
    for one in (averages, backward, collection, reading, recipes, savings, sharing, shopping)
) | {wages.__name__, tanks.__name__, two_kinds.__name__}
