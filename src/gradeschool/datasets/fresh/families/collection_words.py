"""How the family `collection` speaks."""

from __future__ import annotations

from gradeschool.datasets.fresh.wording import wordings

HAS = wordings(
    """
    {A} {~have} {n item}.
    {A} {~start} with {n item}.
    {A} {~have} a total of {n item}.
    At the start, {A} {~have} {n item}.
    """
)
HAS_BOXES = wordings(
    """
    {A} {~have} {k box} of {item}, with {m item} in each {box.one}.
    {A} {~have} {k box} of {m item} each.
    {A} {~keep} {A.his} {item} in {k box}. Each {box.one} {~hold} {m item}.
    {A} {~have} {k box} of {item}. There {~~be} {m item} in each {box.one}.
    """
)
LOOSE = wordings(
    """
    {A.he} also {~have} {m} loose {item}.
    {A.he} {~have} {m} other {item} too.
    {A.he} {~have} another {m} loose {item}.
    """
)
OTHER_HAS = wordings(
    """
    {B} {~have} {n item}.
    {B} {~start} with {n item}.
    At the start, {B} {~have} {n item}.
    """
)
MORE = wordings(
    """
    {A} {~have} {k} more {item} than {B}.
    {A} {~have} {k item} more than {B}.
    {B} {~have} {k} fewer {item} than {A}.
    {B} {~have} {k item} fewer than {A}.
    """
)
FEWER = wordings(
    """
    {A} {~have} {k} fewer {item} than {B}.
    {A} {~have} {k item} fewer than {B}.
    {B} {~have} {k} more {item} than {A}.
    {B} {~have} {k item} more than {A}.
    """
)
TIMES = wordings(
    """
    {A} {~have} {k} as many {item} as {B}.
    {A} {~start} with {k} as many {item} as {B}.
    At the start, {A} {~have} {k} as many {item} as {B}.
    """
)
BUYS = wordings(
    """
    {A.he} {~buy} {k} more {item}.
    {A.he} {~find} {k} more {item}.
    {A.he} {~get} another {k item}.
    {A.he} {~get} {k} more {item}.
    """
)
IS_GIVEN = wordings(
    """
    {C} {~give} {A.him} {k item}.
    {A.he} {~get} {k item} from {C}.
    {C} {~give} {A.him} {k} more {item}.
    """
)
BUYS_BOXES = wordings(
    """
    {A.he} {~buy} {k box} of {m item} each.
    {A.he} {~buy} {k box} of {item}, with {m item} in each {box.one}.
    {A.he} {~get} {k} new {box} of {m item} each.
    """
)
EACH_GIVES = wordings(
    """
    Each of {A.his} {k} friends {~give} {A.him} {m item}.
    {A.he} {~get} {m item} from each of {k} friends.
    From each of {k} friends, {A.he} {~get} {m item}.
    """
)
GIVES = wordings(
    """
    {A.he} {~give} {k item} to {C}.
    {A.he} {~lose} {k} of {A.his} {item}.
    {A.he} {~give} away {k} of the {item}.
    {A.he} {~give} {k} of {A.his} {item} to {C}.
    """
)
GIVES_EACH = wordings(
    """
    {A.he} {~give} {m item} to each of {k} friends.
    {A.he} {~give} {A.his} {k} cousins {m item} each.
    {A.he} {~give} {m item} to each of {A.his} {k} cousins.
    """
)
GIVES_DAILY = wordings(
    """
    {A.he} {~give} away {m item} a day for {k} days.
    For {k} days, {A.he} {~give} away {m item} each day.
    For {k} days, {A.he} {~give} away {m item} a day.
    """
)
GIVES_PART = wordings(
    """
    {A.he} {~give} {part} of {A.his} {item} to {C}.
    {A.he} {~lose} {part} of {A.his} {item}.
    {A.he} {~give} away {part} of {A.his} {item}.
    """
)
DOUBLES = wordings(
    """
    {A.he} {~get} as many new {item} as {A.he} already {~have}.
    {C} {~give} {A.him} as many new {item} as {A.he} already {~have}.
    {A.he} {~buy} as many new {item} as {A.he} already {~have}.
    """
)
HOW_MANY = wordings(
    """
    How many {item} {~do} {A} have in the end?
    Find the number of {item} that {A} {~have} in the end.
    How many {item} {~do} {A} have after that?
    In the end, how many {item} {~do} {A} have?
    """
)
PACKED = wordings(
    """
    {A.he} {~put} all of {A.his} {item} into {crate} of {k}. How many {crate} {~do} {A.he} fill?
    {A.he} {~put} {A.his} {item} into {crate}, with {k item} in each {crate.one}.
        How many {crate} {~do} {A.he} need?
    How many {crate} {~do} {A.he} need if {A.he} {~put} {k item} in each {crate.one}?
    """
)
SHARED = wordings(
    """
    {A.he} {~share} all of {A.his} {item} equally among {k} friends.
        How many {item} {~do} each friend get?
    If {A.he} {~share} the {item} equally among {k} friends, how many {item} {~do} each of them get?
    How many {item} {~do} each friend get if {A.he} {~share} all of {A.his} {item} equally among
        {k} friends?
    """
)
WANTED = wordings(
    """
    {A} {~want} to have {k item} in the end. How many more {item} {~do} {A.he} need?
    How many more {item} {~do} {A} need to have {k item}?
    {A} {~want} to have {k item}. How many more {item} {~do} {A.he} need?
    """
)
SOLD = wordings(
    """
    {A.he} {~sell} all of {A.his} {item} for {p} each. How many dollars {~do} {A.he} get for them?
    If {A.he} {~sell} all of {A.his} {item} at {p} each, how many dollars {~do} {A.he} get for them?
    How many dollars {~do} {A} get if {A.he} {~sell} all of {A.his} {item} for {p} each?
    """
)
ENDED = wordings(
    """
    {D} {~have} {k item}. How many more {item} {~do} {A} have than {D} in the end?
    In the end, how many more {item} {~do} {A} have than {D}, who {~have} {k item}?
    {D} {~have} {k item}. In the end, how many more {item} {~do} {A} have than {D}?
    """
)
