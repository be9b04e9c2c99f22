"""What validation finds on generated sites, and how many fetches it takes."""

from __future__ import annotations

import pytest

from tests.families.moving import MOVING
from tests.families.trying import tried

pytestmark = pytest.mark.once

#: Fetches after which the rules of a site should be known.
FETCHES = 60


@pytest.mark.parametrize(
    "family", ["tracking", "changing_words", "changing_related", "changing_counter", "fields_with_urls"]
)
def test_the_rules_of_pages_that_change_are_known_after_few_fetches(family: str) -> None:
    found = tried(family)
    assert (found.joined, found.wrongly) == (found.aliases, 0)
    assert found.fetches <= FETCHES


@pytest.mark.parametrize("family", MOVING)
def test_what_stays_among_what_changes_is_told_apart(family: str) -> None:
    assert tried(family).wrongly == 0
