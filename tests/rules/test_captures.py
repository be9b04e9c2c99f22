"""Captures without a regular expression's backtracking, against a regular expression."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.rules.captures import CLASSES, captures_of

TEXT = st.text("a1-./?", max_size=12)
PATTERNS = dict(CLASSES)


@st.composite
def forms(draw):
    """Captures with a text between any two, with or without one at each end."""
    classes = draw(st.lists(st.sampled_from(sorted(PATTERNS)), min_size=1, max_size=4))
    between = st.text("a1-./", min_size=1, max_size=2)
    form = []
    for number in range(len(classes)):
        form += [number, *draw(st.lists(between, min_size=1, max_size=2))]
    if draw(st.booleans()):
        form.pop()
    if draw(st.booleans()):
        form.insert(0, draw(between))
    return tuple(form), tuple(classes)


def in_words(form, classes):
    return "".join(
        re.escape(one) if isinstance(one, str) else f"(?P<c{one}>{PATTERNS[classes[one]].pattern})"
        for one in form
    )


@given(forms(), TEXT)
def test_captures_are_those_of_a_regular_expression(made, text):
    form, classes = made
    match = re.fullmatch(in_words(form, classes), text)
    expected = match and {number: match[f"c{number}"] for number in range(len(classes))}
    assert captures_of(form, classes, text) == expected


@given(forms(), st.lists(st.text("a1-./", min_size=1, max_size=3), min_size=4, max_size=4))
def test_captures_are_found_in_what_was_made_of_them(made, values):
    form, classes = made
    text = "".join(one if isinstance(one, str) else values[one] for one in form)
    match = re.fullmatch(in_words(form, classes), text)
    expected = match and {number: match[f"c{number}"] for number in range(len(classes))}
    assert captures_of(form, classes, text) == expected


def test_a_hundred_thousand_ways_to_fit_take_no_longer_than_one():
    form, classes = ("/", 0, "-", 1, "-", 2, "-", 3, "!"), ("name",) * 4
    text = "/" + "-" * 100_000
    assert captures_of(form, classes, text) is None
    assert captures_of(form, classes, f"{text}!") == {0: "-" * 99_994, 1: "-", 2: "-", 3: "-"}
