"""Some generated sites, crawled in each mode; ``python -m benchmarks.families`` crawls all of them."""

from __future__ import annotations

import pytest

from scrapy_dust.settings import DustSettings
from tests.families.apart import APART
from tests.families.one import ONE
from tests.families.running import Result, result_of

pytestmark = pytest.mark.e2e

#: One of each kind: in text, in an attribute, in a script, links alone, seldom, at the second request, in the address.
SOME = (
    "price",
    "picture",
    "script_state",
    "pagination",
    "rare",
    "captcha",
    "own_links",
    "sessions",
    "changing_words",
    "login",
)


@pytest.fixture(scope="module", params=SOME)
def result(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Result:
    return result_of(request.param, 0, tmp_path_factory.mktemp(request.param))


def test_the_plain_crawl_gets_what_the_site_has(result: Result) -> None:
    assert result.told_apart


def may_lose(result: Result, mode: str) -> int:
    """How many items *mode* may lose: none, but of what nobody has seen yet.

    On a site of *rare* a parameter matters for one thing of some fifty, so that a rule about it is true for 98 % of what it
    merges. Before a crawl has seen that thing, nothing tells; that is what `DUST_MAX_RISK` is about.
    """
    learns = result.family == "rare" and mode in ("online", "again")
    return int(DustSettings().max_risk * result.aliases) if learns else 0


def test_no_item_is_lost_in_any_mode(result: Result) -> None:
    assert {mode: lost for mode, lost in result.lost.items() if lost > may_lose(result, mode)} == {}


def test_no_page_is_taken_for_another(result: Result) -> None:
    if result.family in APART:
        wrongly = result.wrongly.items()
        assert {mode: wrong for mode, wrong in wrongly if wrong > may_lose(result, mode)} == {}


def test_one_page_is_known_after_few_fetches(result: Result) -> None:
    if result.family in ONE:
        assert result.joined["rules"] == result.aliases
        assert result.fetches <= 60
