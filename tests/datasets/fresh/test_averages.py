"""Tests that the results and averages in a question lead to its gold."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.support.fresh_questions import Facts, Rules, answer, reckon

ORDER = ("first", "second", "third", "fourth", "fifth")
LISTED = r"([\d, ]+ and \d+)"
GAMES = "(?:games|tests|rounds)"
GAME = "(?:game|test|round)"
PER_GAME = f"(?:per {GAME}|for all the {GAMES})"


def results(facts: Facts, listed: str) -> None:
    facts["results"] = [Fraction(result) for result in listed.replace(" and", ",").split(", ")]


def known_average(facts: Facts, games: Fraction, average: Fraction) -> None:
    """As many equal results have the same average."""
    facts["results"] = [average] * int(games)


def more(facts: Facts, count: Fraction, place: str) -> None:
    facts["results"].append(facts["results"][ORDER.index(place)] + count)


def times(facts: Facts, factor: Fraction, place: str) -> None:
    facts["results"].append(facts["results"][ORDER.index(place)] * factor)


def average(facts: Facts) -> None:
    answer(facts, sum(facts["results"]) / len(facts["results"]))


def wanted(facts: Facts, goal: Fraction) -> None:
    facts["goal"] = goal


def needed(facts: Facts, goal: Fraction | None = None) -> None:
    """The next result whose average with those before is the goal."""
    before = facts["results"]
    answer(facts, (goal or facts["goal"]) * (len(before) + 1) - sum(before))


NEXT = f"In the (?:next {GAME}|{GAME} after that), @ {{get}}"
RULES: Rules = {
    f"In (?:each of )?the first \\d {GAMES}, @ {{get}} {LISTED} points": results,
    f"@ {{get}} {LISTED} points in the first \\d {GAMES}": results,
    f"In each of the first \\d {GAMES}, @ {{get}} some points: {LISTED}": results,
    f"{NEXT} # (?:more points|points more) than in the (\\w+) {GAME}": more,
    f"{NEXT} # times as many points as in the (\\w+) {GAME}": times,
    f"In # {GAMES}, @ {{get}} # points per {GAME} on average": known_average,
    f"@ {{get}} an average of # points in # {GAMES}": lambda facts, mean, games: known_average(
        facts, games, mean
    ),
    f"On average, @ {{get}} # points per {GAME} in # {GAMES}": lambda facts, mean, games: (
        known_average(facts, games, mean)
    ),
    f"{NEXT} # points": lambda facts, points: facts["results"].append(points),
    f"@ {{get}} # points in the next {GAME}": lambda facts, points: facts["results"].append(points),
    f"How many points {{do}} @ get per {GAME} on average": average,
    f"What {{be}} the (?:new )?average number of points {PER_GAME}": average,
    f"Find the (?:new )?average number of points {PER_GAME}": average,
    "@ {want} an average of # points": wanted,
    f"How many points {{do}} @ need in the next {GAME}": needed,
    f"How many points {{do}} @ need in the next {GAME} for an average of #": needed,
    f"For an average of # points, how many points {{do}} @ need in the next {GAME}": needed,
    "How many points {be} that in all": lambda facts: answer(facts, sum(facts["results"])),
    "(?:In all, )?[Hh]ow many points {do} @ get(?: in all)?": lambda facts: answer(
        facts, sum(facts["results"])
    ),
}


@pytest.mark.slow
def test_the_results_of_a_question_lead_to_its_gold() -> None:
    reckoning = reckon("averages", RULES)
    assert (reckoning.understood, reckoning.wrong, reckoning.unread) == (300, [], [])
