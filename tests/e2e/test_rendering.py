"""Pages that real browsers make: Splash 3.5 through scrapy-splash, Chromium through scrapy-playwright.

$DUST_SPLASH is a Python that has Splash (see splash_launcher.py), $DUST_CHROMIUM a browser.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from scrapy_dust.crawl_log import read_visits
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.substitution import Substitute
from scrapy_dust.visits.pages import Visit
from tests.crawl.crawling import write_rules
from tests.crawl.site import HANG_UP, Answer, Site, free_port, serving
from tests.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.e2e

HERE = Path(__file__).parent

#: One page for a server; scripts make of it as many as there are routes, and its links too.
APP = b"""<html><head><title>app</title></head><body><p id="route"></p><script>
var route = location.hash || "home";
document.getElementById("route").textContent = "This is the page of the route " + route;
if (route == "home") ["?sid=1#/a", "?sid=2#/a", "?sid=1#/b", "?sid=3#/b", "?sid=1#/a-top", "gone?sid=1", "gone?sid=2"]
    .forEach(function (link) { document.body.innerHTML += "<a href='/" + link + "'>x</a>"; });
</script></body></html>"""


def web(path: str) -> Answer:
    if path.startswith("/gone"):
        # Nothing comes of its first alias.
        return HANG_UP if path.endswith("sid=1") else Answer(APP, headers={"Content-Type": "text/html"})
    return (
        Answer(APP, headers={"Content-Type": "text/html"})
        if path.partition("?")[0] == "/"
        else Answer(b"", 404)
    )


def _answers(server: subprocess.Popen[bytes], port: int) -> bool:
    assert server.poll() is None, "Splash has ended"
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{port}/_ping", timeout=PATIENCE).close()
    except OSError:
        return False
    return True


@contextmanager
def splash() -> Iterator[list[str]]:
    """The settings that a crawl through it needs."""
    port = free_port()
    server = subprocess.Popen(
        [os.environ["DUST_SPLASH"], str(HERE / "splash_launcher.py"), "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until(lambda: _answers(server, port))
        addons = {"scrapy_dust.splash.SplashAddon": 800, "scrapy_dust.Addon": 900}
        yield [f"-sSPLASH_URL=http://127.0.0.1:{port}", f"-sADDONS={json.dumps(addons)}"]
    finally:
        server.kill()
        server.wait()


@contextmanager
def playwright() -> Iterator[list[str]]:
    handler = "scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler"
    launch = {"executable_path": os.environ["DUST_CHROMIUM"], "args": ["--no-sandbox"]}
    yield [
        f"-sDOWNLOAD_HANDLERS={json.dumps(dict.fromkeys(('http', 'https'), handler))}",
        f"-sPLAYWRIGHT_LAUNCH_OPTIONS={json.dumps(launch)}",
        '-sADDONS={"scrapy_dust.Addon": 900}',
    ]


RENDERERS = {
    "splash": (splash, "DUST_SPLASH", "scrapy_splash"),
    "playwright": (playwright, "DUST_CHROMIUM", "scrapy_playwright"),
}


@dataclass(frozen=True)
class Crawl:
    by: str
    site: Site
    got: dict[str, str]  #: what scripts had made of each URL
    visits: list[Visit]
    stats: dict[str, Any]


@pytest.fixture(
    scope="module", params=[pytest.param(by, marks=pytest.mark.xdist_group(by)) for by in RENDERERS]
)
def crawl(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    by: str = request.param
    renderer, variable, package = RENDERERS[by]
    if not shutil.which(os.environ.get(variable, "")):
        pytest.skip(f"{by} is not here; set {variable} to where it is (.ci/run does)")
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed; pip install --group render brings it")
    folder = tmp_path_factory.mktemp(by)
    with serving(web) as site, renderer() as settings:
        # Above all, what the page's scripts are given to go by is of its URL.
        rules = [Rule.of(DropParameter("sid")), Rule.of(Substitute("-top", "", end=True))]
        book = write_rules(folder / "rules.json", {site.name: rules})
        settings += [f"-sDUST_RULES={book}", f"-sDUST_DIR={folder / 'dust'}", "-sDUST_CANARY_RATE=0"]
        settings += ["-sRETRY_TIMES=1", "-sCONCURRENT_REQUESTS=2", "-sTELNETCONSOLE_ENABLED=False"]
        found = crawled(by, site, folder, settings)
    return Crawl(by, site, dict(found["seen"]), list(read_visits(folder / "dust")), found["stats"])


def crawled(by: str, site: Site, folder: Path, settings: list[str]) -> dict[str, Any]:
    arguments = [f"-aby={by}", f"-asite={site.url('/')}", f"-aout={folder / 'out.json'}"]
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", "runspider", str(HERE / "rendering.py"), *arguments, *settings],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads((folder / "out.json").read_text())
    assert found["reason"] == "finished"
    return found


def test_each_route_of_a_page_is_rendered_once_whatever_else_is_in_its_url(crawl: Crawl) -> None:
    home = crawl.site.url("/")
    assert {url.partition("?")[0].partition("#")[0] for url in crawl.got} == {home, home + "gone"}
    of_routes = sorted(text.rpartition(" ")[2] for url, text in crawl.got.items() if "#" in url)
    assert of_routes == ["#/a", "#/b"]
    assert len(crawl.got) == 4


def test_where_the_first_alias_cannot_be_rendered_the_next_one_is(crawl: Crawl) -> None:
    assert crawl.site.url("/gone?sid=2") in crawl.got
    assert crawl.stats["dust/kept_alive"] == 1


def test_the_log_has_the_urls_of_the_pages_with_their_routes_and_who_rendered_them(crawl: Crawl) -> None:
    pages = {visit.url: visit for visit in crawl.visits if visit.is_page}
    assert set(pages) == set(crawl.got)
    assert {visit.rendered for visit in crawl.visits} == {crawl.by}
    # Home, and two routes: scripts have run when a page is described.
    assert len({visit.text_digest for visit in pages.values()}) == 3


def test_nothing_but_the_renderer_is_asked_for_the_pages(crawl: Crawl) -> None:
    sent = crawl.site.times()
    assert sent["/"] == 1
    assert sum(count for path, count in sent.items() if path.startswith("/?")) == 2
