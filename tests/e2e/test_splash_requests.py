"""scrapy-splash on a Scrapy that it does not know. What Splash makes of pages: test_rendering.py."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest
import scrapy.utils.url
from scrapy import Request
from scrapy.utils.test import get_crawler

from scrapy_dust.crawl.requests import follows_rules, runs_scripts
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from tests.crawl.crawling import QUIET, crawl, write_rules
from tests.crawl.site import page, serving

pytest.importorskip("scrapy_dust.splash", reason="scrapy-splash is not installed", exc_type=ImportError)

pytestmark = pytest.mark.e2e

ADDONS = {"scrapy_dust.splash.SplashAddon": 800, "scrapy_dust.Addon": 900}


def splash_request(url, **more):
    return sys.modules["scrapy_splash"].SplashRequest(url, **more)


@pytest.fixture
def settings(tmp_path):
    write_rules(tmp_path / "dust-rules.json", {"example.com": [Rule.of(DropParameter("sid"))]})
    return {"DUST_DIR": str(tmp_path / "dust"), "DUST_RULES": [str(tmp_path / "dust-rules.json")]}


@pytest.fixture
def with_splash(settings):
    return {**QUIET, **settings, "ADDONS": ADDONS}


def test_nothing_of_ours_loads_it_unasked_and_scrapy_stays_as_it_was():
    assert not hasattr(scrapy.utils.url, "canonicalize_url")
    program = (
        "import sys, scrapy_dust.addon, scrapy_dust.crawl.dupefilter; print('scrapy_splash' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_both_passes_of_a_request_have_keys_of_their_own_and_aliases_share_the_first(with_splash):
    ours = get_crawler(settings_dict=with_splash).request_fingerprinter
    first, alias = (splash_request(f"http://example.com/p?sid={sid}#/a") for sid in "12")
    second = first.replace(url="http://127.0.0.1:8050/render.html", method="POST", body=b"{}")
    second.meta["_splash_processed"] = True
    assert ours.fingerprint(first) == ours.fingerprint(alias) != ours.fingerprint(second)
    assert ours.fingerprint(first) != ours.fingerprint(splash_request("http://example.com/p?sid=1#/b"))
    assert ours.fingerprint(first) != ours.fingerprint(Request("http://example.com/p?sid=1"))
    assert follows_rules(first)
    assert not follows_rules(second)


def test_a_page_asked_for_by_meta_alone_is_rendered_too():
    assert runs_scripts(Request("http://example.com/#/a", meta={"splash": {"endpoint": "render.html"}}))


def test_settings_that_name_its_own_middlewares_get_those_that_work(with_splash, settings):
    by_name = {
        "DOWNLOADER_MIDDLEWARES": {
            "scrapy_splash.SplashCookiesMiddleware": 723,
            "scrapy_splash.middleware.SplashMiddleware": 725,
        },
        "SPIDER_MIDDLEWARES": {"scrapy_splash.SplashDeduplicateArgsMiddleware": 100},
        "ADDONS": {"scrapy_dust.Addon": 900},
        "REQUEST_FINGERPRINTER_CLASS": "scrapy_splash.SplashRequestFingerprinter",
    }
    lua = "function main(splash) end"
    with serving(lambda path: page()) as site:
        for some in (with_splash, {**settings, **by_name}):
            requests = [
                splash_request(
                    f"http://example.com/p?sid={sid}", args={"lua_source": lua}, cache_args=["lua_source"]
                )
                for sid in "ab"
            ]
            result = crawl(requests, some | {"SPLASH_URL": site.url("/")})
            assert result.got == ["http://example.com/p?sid=a"]
    assert site.asked == ["/render.html"] * 2


def test_a_projects_own_middlewares_go_on_working():
    splash = sys.modules["scrapy_splash"]

    class Counting(splash.SplashDeduplicateArgsMiddleware):
        def process_spider_output(self, response, result, spider):
            yield from super().process_spider_output(response, result, spider)
            yield {"outputs": 1}

    class Older(splash.SplashMiddleware):
        def process_request(self, request, spider):
            return super().process_request(request, spider)

    async def output(count):
        for number in range(count):
            yield {"item": number}

    async def collected(result):
        return [one async for one in result]

    crawler = get_crawler()
    counting = Counting.from_crawler(crawler)
    made = asyncio.run(collected(counting.process_spider_output_async(None, output(2))))
    assert made == [{"item": 0}, {"item": 1}, {"outputs": 1}]
    assert Older.from_crawler(crawler).process_request(Request("http://a.example"), None) is None
    assert splash.SplashCookiesMiddleware(debug=True).process_request(Request("http://a.example")) is None
