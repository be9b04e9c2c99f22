"""Fingerprints: one per class, the same everywhere, and Scrapy's own where no rule has a say."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scrapy import FormRequest, Request
from scrapy.http import JsonRequest
from scrapy.utils import trackref
from scrapy.utils.request import RequestFingerprinter, fingerprint
from scrapy.utils.test import get_crawler
from w3lib.url import canonicalize_url, safe_url_string

from scrapy_dust import DustRequestFingerprinter
from scrapy_dust.crawl.scrapys_keys import (
    _PLAIN,
    _SAFE,
    are_known,
    canonical_url,
    scrapys_key,
    url_in_request,
)
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.substitution import Substitute
from tests.crawl.crawling import QUIET, write_rules
from tests.strategies import scraps, urls

RULES = {"example.com": [Rule.of(DropParameter("sid")), Rule.of(Substitute("/index.html", "/", end=True))]}
URL = "http://www.example.com/a/?sid=1&b=2"


@pytest.fixture
def with_example_rules(tmp_path, settings):
    write_rules(tmp_path / "dust-rules.json", RULES)
    return {**QUIET, **settings}


@pytest.fixture
def ours(with_example_rules):
    return get_crawler(settings_dict=with_example_rules).request_fingerprinter


def test_urls_of_one_class_share_a_fingerprint(ours):
    same = ["/a/?b=2", "/a/?b=2&sid=x", "/a/?sid=y&b=2"]
    assert len({ours.fingerprint(Request("http://www.example.com" + path)) for path in same}) == 1
    assert ours.fingerprint(Request(URL)) == fingerprint(Request("http://www.example.com/a/?b=2"))


@pytest.mark.parametrize("asked_before", [False, True])
@pytest.mark.parametrize("url", [URL, "http://www.example.com/a/?b=2", "http://www.example.com/a/#sid=1"])
def test_the_key_without_rules_is_scrapys(ours, url, asked_before):
    request = Request(url)
    if asked_before:
        ours.fingerprint(request)
    assert ours.own(request) == ours.own(request) == fingerprint(Request(url))


@pytest.mark.parametrize(
    "request_",
    [
        Request("http://www.example.com/a/?b=2"),
        Request("http://other.example/a/?sid=1"),
        Request(URL, method="POST"),
        FormRequest(URL, formdata={"a": "b"}),
        Request(URL, meta={"dust": False}),
        Request(URL, meta={"verbatim_url": True}),
        Request("data:,sid=1"),
        Request(URL, meta={"_splash_processed": True, "splash": {"args": {"url": URL}}}),
    ],
    ids=lambda request: f"{request.method} {request.url} {request.meta}",
)
def test_what_no_rule_may_touch_has_the_fingerprint_that_scrapy_gives_it(ours, request_):
    assert ours.fingerprint(request_) == fingerprint(request_)


@pytest.mark.parametrize(
    "changed", [{}, {"DUST_MODE": "off"}, {"DUST_MODE": "shadow"}, {"DUST_RULES": "none.json"}]
)
def test_without_rules_in_force_every_fingerprint_is_scrapys(with_example_rules, changed):
    if not changed:
        changed = {"DUST_ENABLED": False, "REQUEST_FINGERPRINTER_CLASS": DustRequestFingerprinter}
    ours = get_crawler(settings_dict=with_example_rules | changed).request_fingerprinter
    assert isinstance(ours, DustRequestFingerprinter)
    assert ours.fingerprint(Request(URL)) == fingerprint(Request(URL))


class Counting(RequestFingerprinter):
    def __init__(self, crawler=None):
        super().__init__(crawler)
        self.asked: list[Request] = []

    def fingerprint(self, request):
        self.asked.append(request)
        return b"f" + super().fingerprint(request)


def test_a_fingerprint_is_made_once_by_the_fingerprinter_underneath(with_example_rules):
    crawler = get_crawler(settings_dict=with_example_rules | {"REQUEST_FINGERPRINTER_CLASS": Counting})
    underneath = crawler.request_fingerprinter._inner
    touched, untouched = Request(URL), Request("http://www.example.com/b")
    for request in (touched, touched, untouched, untouched):
        assert crawler.request_fingerprinter.fingerprint(request).startswith(b"f")
    assert [request.url for request in underneath.asked] == ["http://www.example.com/a/?b=2", untouched.url]
    assert underneath.asked[1] is untouched


class Odd(Request):
    def __init__(self, url, needed, **rest):
        super().__init__(url, **rest)


def test_a_request_that_cannot_be_canonized_keeps_its_own_fingerprint(with_example_rules):
    crawler = get_crawler(settings_dict=with_example_rules | {"REQUEST_FINGERPRINTER_CLASS": Counting})
    odd = Odd(URL, needed=1)
    assert crawler.request_fingerprinter.fingerprint(odd) == b"f" + fingerprint(odd)
    assert crawler.stats.get_value("dust/canonize_errors") == 1


def test_scrapys_fingerprinter_needs_no_second_request(ours):
    canonical = Odd("http://www.example.com/a/?b=2", needed=1)
    trackref.live_refs.clear()
    odd = Odd(URL, needed=1)
    assert ours.fingerprint(odd) == fingerprint(canonical)
    assert list(trackref.live_refs[Odd]) == [odd]
    assert Request not in trackref.live_refs


def test_scrapys_keys_are_known_of_its_own_fingerprinter_alone():
    assert are_known(RequestFingerprinter())
    assert not are_known(Counting())


@pytest.mark.parametrize("request_class", [Request, FormRequest, JsonRequest])
def test_scrapys_key_is_the_one_of_a_request_for_that_url(request_class):
    @given(urls(), urls() | scraps(), st.binary(max_size=3), st.sampled_from(("utf-8", "latin-1", "cp1252")))
    def is_the_same(url, form, body, encoding):
        request = request_class(url, body=body, encoding=encoding)
        assert scrapys_key(request, request.url) == fingerprint(request)
        try:
            expected = fingerprint(request.replace(url=form))
        except ValueError:
            with pytest.raises(ValueError, match=r"\w"):
                url_in_request(form, encoding)
        else:
            assert scrapys_key(request, url_in_request(form, encoding)) == expected

    is_the_same()


safe = st.text("aZ0/._~=&?;,+:@%!-", max_size=12)


@settings(max_examples=500)
@given(st.builds("{}://{}/{}".format, st.sampled_from(("http", "https")), st.text("a0.-", max_size=6), safe))
def test_what_is_taken_for_safe_is_safe(url):
    assume(_SAFE.fullmatch(url))
    assert safe_url_string(url) == url == safe_url_string(url, "cp1252")


plain = st.from_regex(_PLAIN, fullmatch=True) | st.builds(
    "http://{}/{}".format, st.text("a0.-:", max_size=5), st.text("aZ0/._~,:@!&=+;?%-", max_size=8)
)
several_parameters = st.lists(
    st.tuples(st.text("aB0_-", min_size=1, max_size=2), st.text("aB-/?'", max_size=2)), max_size=4
).map(lambda named: "http://a.test/?" + "&".join(map("=".join, named)))


@pytest.mark.once
@settings(max_examples=500)
@given(plain | several_parameters, st.booleans())
def test_a_url_is_compared_as_scrapy_compares_it(url, keep_fragments):
    try:
        expected = canonicalize_url(url, keep_fragments=keep_fragments)
    except ValueError:
        expected = None
    assume(expected is not None)
    assert canonical_url(url, keep_fragments=keep_fragments) == expected


def test_a_page_that_a_renderer_fetches_is_canonized_where_the_renderer_looks(ours):
    def rendered(url):
        return Request(url, meta={"splash": {"args": {"url": url, "wait": 1}, "endpoint": "render.html"}})

    class OfSplash:
        def fingerprint(self, request):
            return json.dumps(request.meta["splash"], sort_keys=True).encode()

    ours._inner = OfSplash()
    assert ours.fingerprint(rendered(URL)) == ours.fingerprint(rendered(URL.replace("sid=1", "sid=2")))
    assert ours.fingerprint(rendered(URL)) != ours.fingerprint(rendered(URL.replace("b=2", "b=3")))


ROUTE = "http://www.example.com/app#/route"
BROWSER = {"playwright": True}
SPLASH = {"splash": {"args": {"url": ROUTE}, "endpoint": "render.html"}}


@pytest.mark.parametrize("rules", ["dust-rules.json", "none.json"])
@pytest.mark.parametrize("meta", [BROWSER, SPLASH], ids=["playwright", "splash"])
def test_what_a_browser_renders_and_differs_in_its_fragment_is_not_one_page(with_example_rules, meta, rules):
    settings = with_example_rules | {"DUST_RULES": [with_example_rules["DUST_DIR"] + "/../" + rules]}
    ours = get_crawler(settings_dict=settings).request_fingerprinter
    there = Request(ROUTE, meta=meta)
    bare = Request(ROUTE, meta=json.loads(json.dumps(meta).replace("#/route", "")))
    assert ours.fingerprint(there) == ours.fingerprint(there.copy())
    assert ours.fingerprint(there) != ours.fingerprint(bare.replace(url=ROUTE.partition("#")[0]))
    assert ours.fingerprint(there.replace(url=ROUTE, meta={})) == fingerprint(there)


def test_a_fragment_rule_is_a_rule_like_another(tmp_path, with_example_rules):
    write_rules(tmp_path / "dust-rules.json", {"example.com": [Rule.of(Substitute("#top", "", end=True))]})
    ours = get_crawler(settings_dict=with_example_rules).request_fingerprinter

    def key(url):
        return ours.fingerprint(Request(url, meta=BROWSER))

    assert key("http://example.com/a#top") == key("http://example.com/a")
    assert key("http://example.com/a#/top") != key("http://example.com/a")


def test_a_fingerprinter_that_knows_fragments_is_believed(with_example_rules):
    class OfBrowsers(RequestFingerprinter):
        def fingerprint(self, request):
            return fingerprint(request, keep_fragments=True)

    settings = with_example_rules | {"REQUEST_FINGERPRINTER_CLASS": OfBrowsers}
    ours = get_crawler(settings_dict=settings).request_fingerprinter
    request = Request(ROUTE, meta=BROWSER)
    assert ours.fingerprint(request) == fingerprint(request, keep_fragments=True)


def test_where_no_browser_renders_a_fragment_hides_no_rule_and_follows_none(
    ours, tmp_path, with_example_rules
):
    with_fragment, without = (Request("http://www.example.com/a/index.html" + end) for end in ("#top", ""))
    assert ours.fingerprint(with_fragment) == ours.fingerprint(without) != fingerprint(without)
    write_rules(tmp_path / "dust-rules.json", {"example.com": [Rule.of(Substitute("/a#b", "/c"))]})
    ours = get_crawler(settings_dict=with_example_rules).request_fingerprinter
    odd = Request("http://example.com/a#b")
    assert ours.fingerprint(odd) == fingerprint(odd)


@pytest.mark.once
def test_fingerprints_are_the_same_in_every_process(with_example_rules):
    program = """
import json, sys
from scrapy import Request
from scrapy.utils.test import get_crawler
crawler = get_crawler(settings_dict=json.loads(sys.argv[1]))
urls = [f"http://{h}.example.com/{p}/index.html?sid={n}" for h in ("www", "a") for p in "xyz" for n in range(9)]
print([crawler.request_fingerprinter.fingerprint(Request(url)).hex() for url in urls])
"""
    printed = {
        subprocess.run(
            [sys.executable, "-c", program, json.dumps(with_example_rules)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    }
    assert len(printed) == 1
    assert len(set(json.loads(printed.pop().replace(b"'", b'"')))) == 6
