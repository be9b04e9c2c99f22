"""What validation finds on generated sites, and how many fetches it takes."""

from __future__ import annotations

import pytest

from tests.families.looks import APART_IN_LOOKS, ONE_IN_LOOKS
from tests.families.moving import MOVING
from tests.families.trying import tried

pytestmark = pytest.mark.once

#: Families whose pages differ in links with a token that is new at each fetch.
WITH_TOKENS = ("signed_path", "link_with_token", "action_with_token", "link_in_link_with_token")
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


def test_tokens_in_links_hide_no_duplicates() -> None:
    found = tried("links_with_tokens", seed=1)
    assert (found.joined, found.wrongly) == (found.aliases, 0)


@pytest.mark.parametrize("family", [*MOVING, *APART_IN_LOOKS, *WITH_TOKENS])
def test_pages_that_differ_are_told_apart(family: str) -> None:
    assert tried(family).wrongly == 0
