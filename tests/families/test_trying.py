"""What validation finds on generated sites, and how many fetches it takes."""

from __future__ import annotations

import pytest

from tests.families.looks import APART_IN_LOOKS, ONE_IN_LOOKS
from tests.families.moving import MOVING
from tests.families.trying import tried

pytestmark = pytest.mark.once

#: Fetches after which the rules of a site should be known.
FETCHES = 60


@pytest.mark.parametrize(
    "family",
    [
        *("tracking", "changing_words", "changing_related", "changing_counter", "fields_with_urls"),
        *ONE_IN_LOOKS,
    ],
)
def test_the_rules_of_pages_that_change_are_known_after_few_fetches(family: str) -> None:
    found = tried(family)
    assert (found.joined, found.wrongly) == (found.aliases, 0)
    assert found.fetches <= FETCHES


@pytest.mark.parametrize("family", [*MOVING, *APART_IN_LOOKS])
def test_pages_that_differ_are_told_apart(family: str) -> None:
    assert tried(family).wrongly == 0
