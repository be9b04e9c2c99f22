"""What the log of a generated site says of its pages, and what a crawl would save that learns from it as it goes on."""

from __future__ import annotations

import pytest

from scrapy_dust.online.replaying import online
from scrapy_dust.page.site_log import site_log
from scrapy_dust.settings import DustSettings
from tests.families.apart import APART
from tests.families.attacked import ASIDE, ATTACKED
from tests.families.logged import HOST, arrivals_of, drawn, visits_of
from tests.families.moving import MOVING

pytestmark = pytest.mark.once

#: The same text under two addresses, which only the callbacks of a spider tell apart; and what is aside by design.
_NOT_BY_LOG = {"callbacks", *ASIDE}


@pytest.mark.parametrize("family", [one for one in (*APART, *ATTACKED, *MOVING) if one not in _NOT_BY_LOG])
def test_no_two_pages_of_a_log_have_one_label(family: str) -> None:
    web = drawn(family)
    shown = {HOST + path: page.shows for path, page in web.pages.items()}
    labels: dict[str, object] = {}
    for page in site_log(visits_of(web)).pages:
        if page.text_digest is not None:
            assert labels.setdefault(page.text_digest, shown[page.url]) == shown[page.url]


# Of "callbacks" pages are the same, and requests differ in their callbacks, of which a replay knows nothing.
@pytest.mark.parametrize(
    "family", [one for one in (*APART, *ATTACKED, *MOVING) if one not in {"rare", "callbacks", *ASIDE}]
)
def test_a_crawl_that_learns_loses_no_page(family: str) -> None:
    assert online(arrivals_of(drawn(family), 0), DustSettings()).lost == 0


def test_what_matters_for_few_pages_is_lost_as_seldom_as_is_promised() -> None:
    # On these sites a parameter matters for one thing of some fifty: a rule about it is true for 98 % of what it merges.
    crawls = [online(arrivals_of(drawn("rare", seed), seed), DustSettings()) for seed in range(20)]
    lost, redundant = sum(crawl.lost for crawl in crawls), sum(crawl.redundant for crawl in crawls)
    assert lost <= DustSettings().max_risk * redundant
