"""The whole loop on web software that others wrote, served on this machine; $DUST_SITES says where it is set up."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from scrapy_dust.crawl_log import read_visits
from scrapy_dust.dust.pages import Page, merge_visits

pytestmark = pytest.mark.e2e

SPIDER = Path(__file__).with_name("everything.py")


@dataclass(frozen=True)
class Site:
    start: str
    deny: str  #: parts left out, to keep the crawl short
    left: float  #: of the requests of the first crawl, at most so many are left in the second


SITES = {
    # Host and directory aliases, index pages, sort orders of listings.
    "apache": Site(
        "http://apache.test/", r"/(python3\.11|sqlite3|manual|git|handbook|debian-policy)(/|$)", 0.42
    ),
    # Links to reply to a comment, on every page with comments: half of all URLs.
    "wordpress": Site("http://blog.test/", r"/wp-(admin|login|json)|/feed/|/202[23]/|/(author|tag)/", 0.5),
}


@dataclass(frozen=True)
class Crawl:
    requests: int
    pages: tuple[Page, ...]


@dataclass(frozen=True)
class Loop:
    site: Site
    before: Crawl
    after: Crawl
    mined: dict[str, int]


@pytest.fixture(scope="module", params=sorted(SITES))
def loop(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Loop:
    site = SITES[request.param]
    if "DUST_SITES" not in os.environ or not (Path(os.environ["DUST_SITES"]) / request.param).is_dir():
        pytest.skip(
            f"{request.param} is not set up on this machine; set DUST_SITES to the folder of the sites"
        )
    if not _answers(site.start):
        pytest.skip(f"{site.start} does not answer; start it with all.sh in $DUST_SITES")
    folder = tmp_path_factory.mktemp(request.param)
    before = crawl(folder, site, "before")
    mined = json.loads(_scrapy(folder, "dustmine", "--json", str(folder / "before"), *_settings(folder)))
    after = crawl(folder, site, "after")
    print(
        f"\n{request.param}: {before.requests} requests before, {after.requests} after; {mined['valid']} rules, "
        f"{mined['fetches']} validation fetches; {len(lost(before.pages, after.pages))} pages lost"
    )
    return Loop(site, before, after, mined)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=20):
            return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False


def crawl(folder: Path, site: Site, name: str) -> Crawl:
    stats = folder / f"{name}.json"
    arguments = [f"-astart={site.start}", f"-adeny={site.deny}", f"-astats={stats}"]
    _scrapy(folder, "runspider", str(SPIDER), *arguments, *_settings(folder), f"-sDUST_DIR={folder / name}")
    counted = json.loads(stats.read_text())
    assert counted["reason"] == "finished"
    return Crawl(counted["downloader/request_count"], tuple(merge_visits(read_visits(folder / name)).pages))


def _settings(folder: Path) -> list[str]:
    return [
        '-sADDONS={"scrapy_dust.Addon": 900}',
        f"-sDUST_DIR={folder / 'state'}",
        f"-sDUST_RULES={folder / 'rules.json'}",
        "-sLOG_LEVEL=ERROR",
        "-sCONCURRENT_REQUESTS_PER_DOMAIN=8",
        "-sTELNETCONSOLE_ENABLED=False",
        "-sREMOTE_CONTROL_ENABLED=False",
    ]


def _scrapy(folder: Path, *command: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", *command],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout


def lost(before: Iterable[Page], after: Iterable[Page]) -> list[Page]:
    """Pages of the first crawl that no page of the second is: by text or, since pages change, by sketch."""
    found = list(after)
    texts = {page.text_digest for page in found}
    hashes = [{(place, value) for place, value in enumerate(page.sketch or ())} for page in found]
    alike: dict[tuple[int, int], set[int]] = {}
    for number, of_page in enumerate(hashes):
        for one in of_page:
            alike.setdefault(one, set()).add(number)
    gone = []
    for page in before:
        if page.text_digest in texts:
            continue
        counts: dict[int, int] = {}
        for one in enumerate(page.sketch or ()):
            for number in alike.get(one, ()):
                counts[number] = counts.get(number, 0) + 1
        if max(counts.values(), default=0) < 3:
            gone.append(page)
    return gone


def test_the_second_crawl_asks_for_no_more_than_is_left(loop: Loop) -> None:
    assert loop.mined["valid"] > 0
    assert loop.after.requests <= loop.site.left * loop.before.requests


def test_no_page_is_lost(loop: Loop) -> None:
    assert lost(loop.before.pages, loop.after.pages) == []


def test_validation_stays_within_its_budget(loop: Loop) -> None:
    assert loop.mined["fetches"] <= 1000
