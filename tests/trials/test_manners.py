"""What validation asks a site for, counted at the site."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import pytest
from scrapy import Request
from scrapy.crawler import Crawler

from scrapy_dust.believe.validation import Verdict
from scrapy_dust.rule_book.book import RuleBook
from scrapy_dust.rule_book.entries import Entry
from scrapy_dust.rule_book.verdicts import PastVerdict, Verdicts
from scrapy_dust.visits.pages import Visit
from tests.crawl.site import Answer, Site, Web, error, page, redirect, serving
from tests.trials.running import html, log_of, prose, tried

pytestmark = pytest.mark.e2e

PAGES = 12
SESSIONS = [f"/p?id={number}&sid={session}{number}" for number in range(PAGES) for session in "ab"]


def sessions(path: str) -> Answer:
    number = path.removeprefix("/p?id=").partition("&")[0]
    known = path.startswith("/p?id=") and number.isdecimal()
    return html(prose(number)) if known else error(404)


def with_robots(robots: str, web: Web, slowly: float = 0.0) -> Web:
    def answer(path: str) -> Answer:
        if path != "/robots.txt":
            return web(path)
        time.sleep(slowly)
        return Answer(robots.encode(), 200, {"Content-Type": "text/plain"})

    return answer


@pytest.mark.parametrize("said", [{}, {"ROBOTSTXT_OBEY": True}, {"ROBOTSTXT_OBEY": False}])
def test_what_robots_txt_disallows_is_never_made_up(said):
    """Also while robots.txt is still being fetched, when Scrapy lets the third request and those after it pass."""
    robots = "User-agent: *\nDisallow: /p?id=\nAllow: /p?id=*&sid=\n"
    with serving(with_robots(robots, sessions, slowly=0.3)) as site:
        result = tried({site.name: log_of(site, SESSIONS, sessions)}, said)
    made_up = [path for path in site.asked if path.startswith("/p?id=") and "sid=" not in path]
    assert made_up == []
    assert site.asked[0] == "/robots.txt" or said == {"ROBOTSTXT_OBEY": False}
    assert result.spent.fetches > 0


def test_parameters_that_a_site_itself_says_do_not_matter_are_tried_and_prove_themselves_as_others_do():
    """``Clean-param`` in robots.txt, ``No-Vary-Search`` in an answer; one page is too little for any learner."""

    def web(path):
        known = sessions("/p?id=1") if path.startswith("/q") else sessions(path)
        return Answer(known.body, known.status, {**known.headers, "No-Vary-Search": 'params=("via")'})

    urls = [*SESSIONS, "/q", "/q?ref=1", "/q?via=1"]
    with serving(with_robots("User-agent: *\nClean-param: ref /q\n", web)) as site:
        result = tried({site.name: log_of(site, urls, web)}, {})
        host = site.url("/").split("/")[2]
    verdicts = {str(one.rule): one.verdict for one in result.decisions}
    declared = {rule for rule in verdicts if rule.startswith(("ref=", "via="))}
    assert declared == {
        f"ref=* → (left out), where segment 1 is q and the host is {host}",
        f"via=* → (left out), where the host is {host}",
    }
    assert {verdicts[rule] for rule in declared} == {Verdict.UNDECIDED}


@pytest.mark.parametrize(("said", "asked"), [({}, 0), ({"ROBOTSTXT_OBEY": False}, 1)])
def test_a_project_that_does_not_obey_may_ask_again_for_what_it_had(said, asked):
    with serving(with_robots("User-agent: *\nDisallow: /\n", sessions)) as site:
        tried({site.name: log_of(site, SESSIONS, sessions)}, said)
    assert min(1, len([path for path in site.asked if path != "/robots.txt"])) == asked
    assert set(site.asked) <= {"/robots.txt", *SESSIONS}


@pytest.mark.parametrize("throttled", [True, False])
def test_a_crawl_delay_is_kept(throttled):
    times: list[float] = []

    def web(path: str) -> Answer:
        times.append(time.monotonic())
        return sessions(path)

    with serving(with_robots("User-agent: *\nCrawl-delay: 0.2\n", web)) as site:
        project = {"AUTOTHROTTLE_ENABLED": throttled, "AUTOTHROTTLE_START_DELAY": 0.01, "DOWNLOAD_DELAY": 0}
        tried({site.name: log_of(site, SESSIONS, sessions)}, project, validation_budget=12)
    assert len(times) > 6
    # Half of the delay for each: the first request may reach the site late.
    assert times[-1] - times[0] > 0.1 * (len(times) - 1)


def test_no_url_that_looks_like_an_action_is_ever_made_up():
    """The log has a few that the crawl itself had followed, and from these comes a rule that would make more."""
    had = [f"/delete/{number}" for number in range(4)]
    paths = [*(f"/show/{number}" for number in range(20)), *had]

    def web(path: str) -> Answer:
        number = path.rpartition("/")[2]
        return html(prose(number)) if path.startswith(("/show/", "/delete/")) else error(404)

    with serving(web) as site:
        result = tried({site.name: log_of(site, paths, web)})
    assert any("delete" in str(decision.rule) for decision in result.decisions)
    assert {path for path in site.asked if "delete" in path} <= set(had)


def test_redirects_are_followed_on_the_site_and_not_into_actions():
    with serving(lambda path: page()) as other:

        def web(path: str) -> Answer:
            number = int(path.removeprefix("/p?id=").partition("&")[0]) if path.startswith("/p?id=") else None
            if number is None or "sid=" in path:
                return sessions(path)
            return redirect(
                [other.url("/away"), "/logout", "/private/x", f"/p?id={number}&sid=a{number}"][number % 4]
            )

        with serving(with_robots("User-agent: *\nDisallow: /private\n", web)) as site:
            tried({site.name: log_of(site, SESSIONS, sessions)})
    assert other.asked == []
    assert not [path for path in site.asked if path.startswith(("/logout", "/private"))]
    assert [path for path in site.asked if path.startswith("/p?id=") and "sid=" not in path]


def test_no_request_says_that_it_comes_from_the_page_before_it():
    with serving(sessions) as site:
        result = tried({site.name: log_of(site, SESSIONS, sessions)})
    assert result.spent.fetches > 0
    assert site.referers == []


def test_the_budget_is_kept():
    with serving(sessions) as one, serving(sessions) as other:
        visits = {site.name: log_of(site, SESSIONS, sessions) for site in (one, other)}
        assert tried(visits, validation_budget=9).spent.fetches == 9


def test_what_is_settled_costs_nothing_again():
    views = [f"/q?id={number}&view={view}" for number in range(PAGES) for view in ("full", "brief")]

    def web(path: str) -> Answer:
        return html(prose(path[2:].replace("&", "x"))) if path.startswith("/q?id=") else sessions(path)

    with serving(web) as site:
        # Nothing of the contents, so that the log decides nothing.
        visits = {site.name: [Visit(visit.url, 200) for visit in log_of(site, SESSIONS + views, web)]}
        first = tried(visits, similar="none")
        assert first.valid
        assert first.refuted
        of_book = [Entry(one.rule) for one in first.decisions if one.verdict is Verdict.VALID]
        book = RuleBook().with_site(site.name, of_book)
        settled = [
            PastVerdict(one.rule, one.verdict, one.tally, "2026-11-18")
            for one in first.decisions
            if one.verdict is not Verdict.VALID
        ]
        site.asked.clear()
        again = tried(
            visits, book=book, verdicts=Verdicts().with_verdicts(site.name, settled), similar="none"
        )
    assert again.spent.fetches == 0
    assert site.asked == []


# --- several hosts of one site, behind a proxy ------------------------------------------------------------------------


@dataclass(frozen=True)
class Sent:
    method: str
    url: str
    headers: dict[str, str]

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc


@dataclass
class Proxy:
    port: int = 0
    sent: list[Sent] = field(default_factory=list)


@contextmanager
def proxying(web: Callable[[str], Answer]) -> Iterator[Proxy]:
    """Any host there is, as a proxy shows it; *web* is given whole URLs."""
    proxy = Proxy()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            proxy.sent.append(Sent(self.command, self.path, {k.lower(): v for k, v in self.headers.items()}))
            answer = web(self.path)
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

        do_HEAD = do_POST = do_PUT = do_DELETE = do_CONNECT = do_GET

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        proxy.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield proxy
        finally:
            server.shutdown()
            thread.join()


class ThroughProxy:
    """The project's own middleware, as projects have them."""

    def __init__(self, proxy: str) -> None:
        self.proxy = proxy

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> ThroughProxy:
        return cls(crawler.settings["OWN_PROXY"])

    def process_request(self, request: Request) -> None:
        request.meta["proxy"] = self.proxy


def test_the_projects_identity_and_proxy_are_used_and_its_secrets_stay_with_the_hosts_it_had():
    """A host alias: rules lead from www to the bare name, and the site redirects some to a third host."""

    def web(url: str) -> Answer:
        parts = urlsplit(url)
        number = parts.path.removeprefix("/p")
        if not number.isdecimal():
            return error(404)
        headers = {
            "Set-Cookie": f"seen={parts.netloc}; Domain=shop.test; Path=/",
            "Content-Type": "text/html",
        }
        if parts.netloc == "shop.test" and int(number) >= 10:
            return redirect(f"http://m.shop.test/p{number}", **headers)
        return Answer(html(prose(number)).body, 200, headers)

    paths = [f"/p{number}" for number in range(24)]
    with proxying(web) as proxy:
        site = Site(proxy.port)
        visits = log_of(site, paths, lambda path: web(f"http://www.shop.test{path}"), host="www.shop.test")
        visits += log_of(site, paths[:10], lambda path: web(f"http://shop.test{path}"), host="shop.test")
        tried(
            {"shop.test": visits},
            {
                "USER_AGENT": "polite-bot (+http://me.example)",
                "DOWNLOADER_MIDDLEWARES": {ThroughProxy: 740},
                "OWN_PROXY": f"http://127.0.0.1:{proxy.port}",
                "DEFAULT_REQUEST_HEADERS": {"Authorization": "Basic c2VjcmV0", "X-Own": "1"},
            },
        )
    by_host: dict[str, list[Sent]] = {}
    for sent in proxy.sent:
        by_host.setdefault(sent.host, []).append(sent)
    assert {"www.shop.test", "shop.test", "m.shop.test"} <= set(by_host)
    assert {sent.method for sent in proxy.sent} == {"GET"}
    assert {sent.headers["user-agent"] for sent in proxy.sent} == {"polite-bot (+http://me.example)"}
    assert all(
        "authorization" not in sent.headers and "cookie" not in sent.headers
        for sent in by_host["m.shop.test"]
    )
    assert any("authorization" in sent.headers for sent in by_host["www.shop.test"])
    for host, of_host in by_host.items():
        assert {sent.headers["cookie"] for sent in of_host if "cookie" in sent.headers} <= {f"seen={host}"}
