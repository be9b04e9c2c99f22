"""The laws of the example's web: what it shows, what is true of it, and what its server counts."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from collections import Counter, deque
from collections.abc import Iterator
from functools import cache
from html import unescape
from http.client import HTTPConnection
from urllib.parse import urljoin

import pytest
from dusty_web import SEED
from dusty_web.compare import compare, crawl_of
from dusty_web.running import PROJECT, RunningWeb, running_web
from dusty_web.site import Changes, Content
from dusty_web.traps import merged_traps, traps, wrong_merges
from dusty_web.truth import Kind, least_requests, oracle_key, truth_of
from dusty_web.web import DustyWeb

from tests.waiting import PATIENCE

pytestmark = pytest.mark.once

_HREF = re.compile(r"<a href='([^']*)'")


@pytest.fixture(scope="module", params=[SEED, 11])
def web(request: pytest.FixtureRequest) -> DustyWeb:
    return DustyWeb(request.param)


def _contents(web: DustyWeb) -> Iterator[Content]:
    for site in web.sites:
        yield from site.contents.values()


def _digest(web: DustyWeb) -> str:
    pages = hashlib.sha256()
    for url in web.linked():
        pages.update(url.encode() + web.respond(url).body)
    return pages.hexdigest()


@cache
def _crawl(web: DustyWeb, *, newest_first: bool, by_key: bool = True) -> Counter[str]:
    """Follow all links, one URL per class if *by_key*; a class is open again where its URL failed. URLs asked for."""
    asked: Counter[str] = Counter()
    done: set[str] = set()
    waiting = deque(site.front.home for site in web.sites)
    while waiting:
        url = waiting.pop() if newest_first else waiting.popleft()
        key = oracle_key(url) if by_key else url
        if key in done or web.is_disallowed(url):
            continue
        asked[url] += 1
        response = web.respond(url)
        while response.location:
            url = response.location
            asked[url] += 1
            response = web.respond(url)
        if response.status == 200:
            done.add(key)
            hrefs = _HREF.findall(response.body.decode())
            waiting.extend(urljoin(url, unescape(href)) for href in hrefs)
    return asked


def _delivered(web: DustyWeb, asked: Counter[str]) -> set[str]:
    return {response.content for response in map(web.respond, asked)} - {""}


def _counts(web: DustyWeb, asked: Counter[str]) -> dict[str, object]:
    """As the server would have counted, had each URL been answered as it is at first."""
    rows = []
    for url, requests in asked.items():
        response = web.respond(url)
        size = len(response.body) * requests
        row = {"url": url, "status": response.status, "content": response.content or None}
        rows.append({**row, "requests": requests, "bytes": size})
    return {"seed": web.seed, "rows": rows}


def test_a_page_is_a_function_of_its_url_and_the_seed(web: DustyWeb) -> None:
    assert _digest(DustyWeb(web.seed)) == _digest(web)
    assert _digest(DustyWeb(web.seed + 1)) != _digest(web)


def test_another_process_with_other_hashes_shows_the_same_web() -> None:
    program = "from tests.example.test_dusty_site import DustyWeb, _digest; print(_digest(DustyWeb()))"
    paths = os.pathsep.join([str(PROJECT), str(PROJECT.parent)])
    answers = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONPATH": paths, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for hash_seed in ("1", "2")
    ]
    assert answers == [_digest(DustyWeb())] * 2


def test_only_pages_that_are_said_to_change_do_and_no_two_urls_change_alike(web: DustyWeb) -> None:
    for content in _contents(web):
        first, second = (web.respond(content.home, nth=1, ever=ever).body for ever in (1, 2))
        assert (first == second) == (content.changes is Changes.NOTHING), content.id
        if content.changes is Changes.COUNTER:
            assert re.sub(rb"Read \d+ times", b"", first) == re.sub(rb"Read \d+ times", b"", second)
    live = [web.respond(url).body for url in web.linked() if "/live/" in url]
    assert len(set(live)) == len(live)


def test_it_is_as_large_as_promised(web: DustyWeb) -> None:
    assert 300 <= len(web.contents()) <= 600
    assert 2000 <= len(web.linked()) <= 3500


def test_every_spelling_is_linked_and_leads_to_its_content_or_fails(web: DustyWeb) -> None:
    linked = set(web.linked())
    for content in _contents(web):
        assert linked.issuperset(content.spellings)
        assert len(set(content.spellings)) == len(content.spellings)
        for url in (content.home, *content.also, *content.offers):
            assert truth_of(web, url).content == (content.copy_of or content.id), url
        for url in content.failing:
            assert web.respond(url).status >= 400, url


def test_urls_with_one_oracle_key_show_one_content(web: DustyWeb) -> None:
    assert wrong_merges(web, oracle_key) == {}


def test_one_content_has_one_oracle_key_copies_aside(web: DustyWeb) -> None:
    for content in _contents(web):
        assert {oracle_key(url) for url in content.spellings} == {oracle_key(content.home)}
    keys = [oracle_key(content.home) for content in _contents(web)]
    assert len(set(keys)) == len(keys)


def test_an_oracle_key_is_its_own_key(web: DustyWeb) -> None:
    for url in web.linked():
        assert oracle_key(oracle_key(url)) == oracle_key(url)


def test_redirects_stay_within_their_class(web: DustyWeb) -> None:
    redirecting = [url for url in web.linked() if web.respond(url).location]
    assert len(redirecting) > 40
    for url in redirecting:
        assert oracle_key(web.respond(url).location) == oracle_key(url)


def test_traps_are_linked_and_show_different_pages(web: DustyWeb) -> None:
    linked = set(web.linked())
    for trap in traps(web):
        assert {trap.a, trap.b} <= linked, trap
        assert truth_of(web, trap.a) != truth_of(web, trap.b), trap
        assert truth_of(web, trap.a).content, trap
    assert merged_traps(web, oracle_key) == ()


def test_no_two_contents_have_one_text(web: DustyWeb) -> None:
    texts = {}
    for content in _contents(web):
        response = web.respond(content.home)
        while response.location:
            response = web.respond(response.location)
        text = re.search(rb"<div class='text'>.*?</div>", response.body, re.DOTALL)
        assert text
        texts.setdefault(text[0], set()).add(content.copy_of or content.id)
    assert {len(sharing) for sharing in texts.values()} == {1}


def test_a_key_that_falls_into_a_trap_is_found_out(web: DustyWeb) -> None:
    def careless(url: str) -> str:
        return re.sub(r"page=\d+", "page=", oracle_key(url))

    assert {trap.name for trap in merged_traps(web, careless)} == {
        "pages of a list",
        "the third page for the second",
    }
    assert wrong_merges(web, careless)


def test_pages_of_the_equal_sizes_trap_have_equal_sizes(web: DustyWeb) -> None:
    urls = {url for trap in traps(web) if trap.name == "equal sizes" for url in (trap.a, trap.b)}
    assert len(urls) == 10
    assert len({len(web.respond(url).body) for url in urls}) == 1


@pytest.mark.parametrize("newest_first", [False, True])
def test_one_url_of_each_class_is_enough_to_reach_every_content(web: DustyWeb, newest_first: bool) -> None:
    asked = _crawl(web, newest_first=newest_first)
    assert _delivered(web, asked) == web.contents()
    # Beyond the least: spellings that redirect or fail, taken before better ones of their class were known.
    assert sum(asked.values()) < least_requests(web, asked) + 80


def test_a_crawl_of_every_url_asks_for_every_link_but_the_excluded(web: DustyWeb) -> None:
    asked = _crawl(web, newest_first=False, by_key=False)
    assert {url for url in web.linked() if not web.is_disallowed(url)} <= set(asked)
    assert _delivered(web, asked) == web.contents()


def test_every_content_has_a_home_that_does_not_fail_and_some_have_other_urls_that_do(web: DustyWeb) -> None:
    assert all(web.respond(content.home).status < 400 for content in _contents(web))
    statuses = Counter(web.respond(url).status for content in _contents(web) for url in content.failing)
    assert set(statuses) == {404, 500, 503}


def test_what_fails_first_answers_when_asked_again(web: DustyWeb) -> None:
    flaky = [url for url in web.linked() if web.respond(url).status == 503]
    assert flaky
    for url in flaky:
        assert web.respond(url, nth=1).content == truth_of(web, url).content


def test_actions_are_linked_nowhere_but_made_up_by_a_rule_that_looks_true(web: DustyWeb) -> None:
    linked = web.linked()
    assert not [url for url in linked if truth_of(web, url).kind is Kind.ACTION]
    made_up = [url.replace("/help_", "/") for url in linked if "/help_" in url]
    kinds = Counter(truth_of(web, url).kind for url in made_up)
    assert kinds == {Kind.PAGE: 15, Kind.ACTION: 6}


def test_every_site_links_into_what_its_robots_txt_excludes(web: DustyWeb) -> None:
    for site in web.sites:
        assert any(web.is_disallowed(url) for url in site.linked())
        for host in site.hosts:
            robots = web.respond(f"http://{host}/robots.txt").body.decode()
            assert robots == f"User-agent: *\nDisallow: {site.disallowed}\n"


def test_the_comparison_says_what_was_saved_missed_and_gained(web: DustyWeb) -> None:
    every = _crawl(web, newest_first=False, by_key=False)
    once = _crawl(web, newest_first=False)
    comparison = compare(_counts(web, every), _counts(web, once))
    assert comparison.is_good
    assert comparison.before.oracle == comparison.after.oracle == least_requests(web, every)
    assert 0.95 < comparison.share_of_saving < 1
    lost = "http://www.academic.test/dept/library/"
    without = Counter({url: times for url, times in once.items() if oracle_key(url) != oracle_key(lost)})
    comparison = compare(_counts(web, once), _counts(web, without))
    assert comparison.missing == {"academic/dept/library"}
    assert not comparison.is_good
    assert compare(_counts(web, without), _counts(web, once)).gained == {"academic/dept/library"}


def test_the_comparison_counts_what_must_not_be_asked_for() -> None:
    web = DustyWeb()
    trespasses = {
        "http://www.forum.test/admin/panel": 2,
        "http://scifi.forum.test/delete?id=3": 1,
        "http://example.com/": 4,
        "http://www.forum.test/robots.txt": 1,
        "http://www.forum.test/": 1,
    }
    crawl = crawl_of(_counts(web, Counter(trespasses)))
    assert (crawl.disallowed, crawl.actions, crawl.foreign) == (2, 1, 4)
    assert crawl.requests == 8


class Client:
    """One connection to the server, kept alive, that asks as a client of a proxy does."""

    def __init__(self, running: RunningWeb) -> None:
        self._connection = HTTPConnection("127.0.0.1", running.port, timeout=PATIENCE)

    def get(self, url: str, method: str = "GET") -> tuple[int, bytes]:
        self._connection.request(method, url, headers={"Host": url.split("/")[2]})
        response = self._connection.getresponse()
        return response.status, response.read()

    def close(self) -> None:
        self._connection.close()


@pytest.fixture(scope="module")
def running() -> Iterator[RunningWeb]:
    with running_web() as started:
        yield started


@pytest.fixture
def client(running: RunningWeb) -> Iterator[Client]:
    running.reset()
    client = Client(running)
    yield client
    client.close()


def test_the_server_sends_what_the_web_shows(client: Client) -> None:
    web = DustyWeb()
    for url in web.linked()[::40]:
        response = web.respond(url)
        if b"Read " not in response.body and "/live/" not in url:
            assert client.get(url) == (response.status, response.body)


def test_the_server_counts_every_request_until_it_is_reset(client: Client, running: RunningWeb) -> None:
    story, dead = "http://scifi.forum.test/story?id=7", "http://www.smallnews.test/city/removed-1"
    for url in (story, story, dead, "http://www.bignews.test/q/3", "http://example.com/"):
        client.get(url)
    client.get(story, method="HEAD")
    counts = running.counts()
    rows = {(row["url"], row["status"], row["content"]): row["requests"] for row in counts["rows"]}
    assert counts["seed"] == SEED
    assert rows == {
        (story, 200, "forum/scifi/story/7"): 2,
        (story, 200, None): 1,
        (dead, 200, None): 1,
        ("http://www.bignews.test/q/3", 302, None): 1,
        ("http://example.com/", 502, None): 1,
    }
    running.reset()
    assert running.counts()["rows"] == []


def test_the_server_fails_first_and_again_after_a_reset(client: Client, running: RunningWeb) -> None:
    web = DustyWeb()
    url = next(url for url in web.linked() if web.respond(url).status == 503)
    assert [client.get(url)[0] for _ in range(3)] == [503, 200, 200]
    running.reset()
    assert client.get(url)[0] == 503


def test_a_page_that_changes_goes_on_changing_after_a_reset(client: Client, running: RunningWeb) -> None:
    url = "http://www.smallnews.test/live/2"
    before = client.get(url)
    running.reset()
    assert client.get(url) != before
