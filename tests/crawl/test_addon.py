"""The add-on: what a user sets wins, what was configured before is kept underneath, what is wrong stops the crawl."""

from __future__ import annotations

import logging

import pytest
from scrapy import Request
from scrapy.core.scheduler import Scheduler
from scrapy.dupefilters import BaseDupeFilter, RFPDupeFilter
from scrapy.settings import BaseSettings, Settings
from scrapy.utils.request import RequestFingerprinter, fingerprint
from scrapy.utils.test import get_crawler

from scrapy_dust import (
    Addon,
    CrawlLogMiddleware,
    DustCacheStorage,
    DustDupeFilter,
    DustExtension,
    DustOutcomeMiddleware,
    DustRequestFingerprinter,
    DustScheduler,
)
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from tests.crawl.crawling import QUIET, crawl
from tests.crawl.site import page, serving


class Fingerprinter(RequestFingerprinter):
    def fingerprint(self, request):
        return b"mine" + super().fingerprint(request)


class Filter(RFPDupeFilter):
    pass


class Queue(Scheduler):
    pass


def updated(settings: dict[str, object], priority: str = "project") -> Settings:
    made = Settings(settings, priority=priority)
    Addon().update_settings(made)
    return made


def test_one_line_in_the_settings_is_all():
    settings = updated({})
    assert settings["DOWNLOADER_MIDDLEWARES"][CrawlLogMiddleware] == 585
    assert settings["EXTENSIONS"][DustExtension] == 500
    assert settings["REQUEST_FINGERPRINTER_CLASS"] is DustRequestFingerprinter
    assert settings["DUPEFILTER_CLASS"] is DustDupeFilter
    assert settings["DOWNLOADER_MIDDLEWARES"][DustOutcomeMiddleware] == 1
    assert settings["SPIDER_MIDDLEWARES"][DustOutcomeMiddleware] == 10_000


def test_the_scheduler_and_the_cache_are_wrapped_where_there_is_a_reason_to():
    untouched = Settings()
    for name in ("SCHEDULER", "HTTPCACHE_STORAGE"):
        assert updated({"DUST_MODE": "shadow", "DUST_TRAPS": "off"})[name] == untouched[name]
    # Rules may come into force in any crawl that enforces them, and any crawl looks for traps.
    assert updated({})["SCHEDULER"] is DustScheduler
    settings = updated({"HTTPCACHE_ENABLED": True, "SCHEDULER": Queue})
    assert settings["SCHEDULER"] is DustScheduler
    assert settings["DUST_FALLBACK_SCHEDULER"] is Queue
    assert settings["HTTPCACHE_STORAGE"] is DustCacheStorage
    assert settings["DUST_FALLBACK_HTTPCACHE_STORAGE"] == untouched["HTTPCACHE_STORAGE"]


@pytest.mark.parametrize("ours", [CrawlLogMiddleware, "scrapy_dust.CrawlLogMiddleware"])
@pytest.mark.parametrize("order", [10, None])
def test_an_order_that_the_user_chose_stays(ours, order):
    settings = updated({"DOWNLOADER_MIDDLEWARES": {ours: order}})
    assert settings["DOWNLOADER_MIDDLEWARES"][ours] == order
    assert len(settings["DOWNLOADER_MIDDLEWARES"]) == 2


def test_an_extension_that_the_user_turned_off_stays_off():
    assert list(updated({"EXTENSIONS": {"scrapy_dust.DustExtension": None}})["EXTENSIONS"].values()) == [None]


@pytest.mark.parametrize("priority", ["default", "addon", "project", "spider", "cmdline"])
def test_what_was_configured_before_is_put_underneath(priority):
    settings = updated({"REQUEST_FINGERPRINTER_CLASS": Fingerprinter, "DUPEFILTER_CLASS": Filter}, priority)
    assert settings["REQUEST_FINGERPRINTER_CLASS"] is DustRequestFingerprinter
    assert settings["DUST_FALLBACK_REQUEST_FINGERPRINTER_CLASS"] is Fingerprinter
    assert settings["DUPEFILTER_CLASS"] is DustDupeFilter
    assert settings["DUST_FALLBACK_DUPEFILTER_CLASS"] is Filter


@pytest.mark.parametrize("priority", ["addon", "project"])
def test_what_somebody_chose_to_put_underneath_stays(priority):
    chosen = {"DUST_FALLBACK_DUPEFILTER_CLASS": Filter, "DUPEFILTER_CLASS": RFPDupeFilter}
    settings = updated(chosen, priority)
    assert settings["DUST_FALLBACK_DUPEFILTER_CLASS"] is Filter


def test_the_shells_way_to_turn_the_dupefilter_off_is_left_alone():
    settings = updated({"DUPEFILTER_CLASS": "scrapy.dupefilters.BaseDupeFilter"}, "command")
    assert settings["DUPEFILTER_CLASS"] == "scrapy.dupefilters.BaseDupeFilter"


def test_a_project_that_filters_nothing_filters_nothing_with_us(with_rules):
    with serving(lambda path: page()) as site:
        settings = with_rules(site, Rule.of(DropParameter("sid"))) | {"DUPEFILTER_CLASS": BaseDupeFilter}
        crawl([site.url("/p?sid=a"), site.url("/p?sid=b")] * 2, settings)
    assert len(site.asked) == 4


def test_our_parts_configured_by_hand_are_not_wrapped_into_themselves():
    by_hand = {
        "REQUEST_FINGERPRINTER_CLASS": "scrapy_dust.DustRequestFingerprinter",
        "DUPEFILTER_CLASS": "scrapy_dust.DustDupeFilter",
    }
    settings = updated(by_hand)
    assert {name: settings[name] for name in by_hand} == by_hand
    assert "DUST_FALLBACK_DUPEFILTER_CLASS" not in settings


class OfOurs(DustDupeFilter):
    """As a project may have it that changes a thing or two."""


def test_a_class_made_from_ours_is_ours():
    assert updated({"DUPEFILTER_CLASS": OfOurs})["DUPEFILTER_CLASS"] is OfOurs


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("REQUEST_FINGERPRINTER_CLASS", "scrapy_dust.DustRequestFingerprinter"),
        ("DUPEFILTER_CLASS", DustDupeFilter),
        ("DUPEFILTER_CLASS", OfOurs),
        ("SCHEDULER", DustScheduler),
        ("HTTPCACHE_STORAGE", DustCacheStorage),
    ],
)
def test_our_parts_under_themselves_are_refused(settings, name, ours):
    with (
        serving(lambda path: page()) as site,
        pytest.raises(ValueError, match=f"DUST_FALLBACK_{name} must be"),
    ):
        crawl([site.url("/")], settings | {f"DUST_FALLBACK_{name}": ours})


def test_parts_configured_by_hand_do_all_that_the_addon_does(with_rules):
    by_hand = {
        "ADDONS": {},
        "DOWNLOADER_MIDDLEWARES": {"scrapy_dust.CrawlLogMiddleware": 585},
        "EXTENSIONS": {"scrapy_dust.DustExtension": 500},
        "REQUEST_FINGERPRINTER_CLASS": "scrapy_dust.DustRequestFingerprinter",
        "DUPEFILTER_CLASS": "scrapy_dust.DustDupeFilter",
    }
    with serving(lambda path: page()) as site:
        settings = with_rules(site, Rule.of(DropParameter("sid"))) | by_hand
        result = crawl([site.url(f"/p?sid={sid}") for sid in "ab"], settings)
    assert result.stats["dust/filtered"] == 1
    assert result.stats["dust/recorded"] == 1


def test_turned_off_it_leaves_no_trace():
    settings, untouched = updated({"DUST_ENABLED": False}), Settings({"DUST_ENABLED": False})
    assert settings.copy_to_dict() == untouched.copy_to_dict()


def test_turned_off_parts_that_were_configured_by_hand_do_nothing(with_rules):
    by_hand = {
        "DUST_ENABLED": False,
        "DOWNLOADER_MIDDLEWARES": {"scrapy_dust.CrawlLogMiddleware": 585},
        "EXTENSIONS": {"scrapy_dust.DustExtension": 500},
        "REQUEST_FINGERPRINTER_CLASS": "scrapy_dust.DustRequestFingerprinter",
        "DUPEFILTER_CLASS": "scrapy_dust.DustDupeFilter",
    }
    with serving(lambda path: page()) as site:
        result = crawl(
            [site.url(f"/p?sid={sid}") for sid in "ab"],
            with_rules(site, Rule.of(DropParameter("sid"))) | by_hand,
        )
    assert len(result.got) == 2
    assert not [name for name in result.stats if name.startswith("dust/")]


class Wrapping:
    """Another add-on that takes the fingerprinter over, as several do."""

    def update_settings(self, settings: BaseSettings) -> None:
        settings.set("REQUEST_FINGERPRINTER_CLASS", Fingerprinter, "addon")


@pytest.mark.parametrize("order", [1, 1000])
def test_add_ons_that_wrap_too_get_along(settings, order):
    crawler = get_crawler(settings_dict=QUIET | settings | {"ADDONS": {Addon: 900, Wrapping: order}})
    request = Request("http://example.com/")
    assert crawler.request_fingerprinter.fingerprint(request) == b"mine" + fingerprint(request)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (
            {"DUST_CANARY_RAET": 1},
            "DUST_CANARY_RAET is not a setting of scrapy-dust. Did you mean DUST_CANARY_RATE?",
        ),
        ({"DUST_MODE": "enforced"}, "DUST_MODE must be one of 'enforce', 'shadow', 'off', got 'enforced'."),
    ],
)
@pytest.mark.parametrize("addons", [{"scrapy_dust.Addon": 900}, {}])
def test_a_setting_that_cannot_be_meant_stops_the_crawl_before_it_begins(settings, wrong, said, addons):
    by_hand = {"EXTENSIONS": {"scrapy_dust.DustExtension": 500}, "ADDONS": addons}
    with serving(lambda path: page()) as site:
        with pytest.raises(ValueError, match="DUST_") as caught:
            crawl([site.url("/")], settings | by_hand | wrong)
        assert said in str(caught.value)
    assert site.asked == []


def test_a_rule_book_that_cannot_be_read_stops_the_crawl_before_it_begins(settings, tmp_path):
    (tmp_path / "dust-rules.json").write_text("{")
    with serving(lambda path: page()) as site, pytest.raises(Exception, match=r"dust-rules\.json: "):
        crawl([site.url("/")], settings)
    assert site.asked == []


def test_nothing_is_said_in_a_tone_louder_than_info_when_all_is_well(with_rules, caplog):
    caplog.set_level(logging.WARNING, "scrapy_dust")
    with serving(lambda path: page()) as site:
        crawl([site.url(f"/p?sid={sid}") for sid in "ab"], with_rules(site, Rule.of(DropParameter("sid"))))
    assert not [record for record in caplog.records if record.name.startswith("scrapy_dust")]
