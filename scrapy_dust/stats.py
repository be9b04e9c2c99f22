"""Every ``dust/…`` stat, declared once: its name and what it counts."""

from __future__ import annotations

from enum import StrEnum
from typing import Self


class Stat(StrEnum):
    """A stat's name as ``value``, which is what Scrapy's stats are given, and its meaning as ``doc``."""

    doc: str

    def __new__(cls, name: str, doc: str) -> Self:
        member = str.__new__(cls, name)
        member._value_ = name
        member.doc = doc
        return member

    RECORDED = "dust/recorded", "Records written to the crawl log: pages, redirects, errors and failures."
    RECORDED_COPIES = "dust/recorded_copies", "Findings of `ContentDedupMiddleware` written to the crawl log."
    RECORDED_TAKEN = (
        "dust/recorded_taken",
        "Records of what callbacks took from pages, written to the crawl log.",
    )
    RECORD_ERRORS = "dust/record_errors", "Responses and failures that could not be recorded."

    HANDED_ON = (
        "dust/handed_on",
        (
            "Pages of which items have a text or number that the request handed on and the page does not show. `dust/handed_on/<name>` "
            "says what to add to `DUST_CLASS_BY` for rules to tell such requests apart."
        ),
    )

    CANONIZED = "dust/canonized", "Requests whose key is another than their own URL's."
    CANONIZE_ERRORS = (
        "dust/canonize_errors",
        "Requests that could not be canonized, and were keyed as they are.",
    )

    FILTERED = (
        "dust/filtered",
        (
            "URLs that rules kept from being fetched and Scrapy alone would have fetched; each URL once. "
            "`dust/filtered/<rule id>` says by which rule, `dust/filtered/others` by one of many more; "
            "a URL that several rules changed counts for each."
        ),
    )
    SHADOW_FILTERED = (
        "dust/shadow/filtered",
        "In shadow mode: URLs that would have been filtered, those that robots.txt forbids included; by rule as above.",
    )
    CANARIES = (
        "dust/canaries",
        (
            "URLs that a rule would have filtered and that were fetched all the same, to test it. "
            "`dust/canaries/same`, `…/different`, `…/unfetchable` and `…/unknown` say what came of it."
        ),
    )
    CONTROLS = (
        "dust/controls",
        "Pages fetched again: to compare a canary with, since a page that changes is no other page, and to learn what changes at each fetch.",
    )
    ON_PROBATION = "dust/probation", "Rules on probation that the crawl has not decided."
    PROVED = "dust/probation/proved", "Rules on probation that were proved, and came into force in the crawl."
    REFUTED = "dust/probation/refuted", "Rules on probation that different pages have contradicted."
    PROBATION_SAME = (
        "dust/probation/same",
        "URLs that a rule on probation would have filtered and that show the page of their class.",
    )
    PROBATION_DIFFERENT = "dust/probation/different", "The same of URLs that show another page."
    PROBATION_UNKNOWN = "dust/probation/unknown", "The same of URLs of which it cannot be told."
    DOUBTED = (
        "dust/doubted",
        "Rules that suppressed nothing for a while, after one canary had shown another page.",
    )
    SUSPENDED = "dust/suspended", "Rules that turned out to be false in this crawl, and were given up."
    STALE_SITES = (
        "dust/stale_sites",
        (
            "Sites whose rules seemed out of date: rules that should have changed many URLs changed none, "
            "or many URLs have parameters that no log has shown. The log says which."
        ),
    )
    RETURNED = (
        "dust/returned",
        "URLs that rules had suppressed and that were offered to the spider again; they no longer count as filtered.",
    )
    REQUEUED = "dust/requeued", "URLs that `scrapy dustrules requeue` gave back to the spider."
    DUPEFILTER_ERRORS = (
        "dust/dupefilter_errors",
        "Requests to which rules could not be applied, and that were filtered as without them.",
    )
    STORE_ERRORS = "dust/store_errors", "How often suppressed requests could not be written or read."
    JOURNAL_ERRORS = "dust/journal_errors", "Events that could not be written to the journal."
    SHADOW_SAME = (
        "dust/shadow/same",
        "In shadow mode: would-be filtered URLs that were compared and show the page that would have been fetched.",
    )
    SHADOW_DIFFERENT = (
        "dust/shadow/different",
        "In shadow mode: would-be filtered URLs that show another page: enforcing the rules would have lost it.",
    )
    SHADOW_UNKNOWN = "dust/shadow/unknown", "In shadow mode: comparisons that showed nothing."
    SHADOW_OPEN = (
        "dust/shadow/open",
        "In shadow mode: would-be filtered URLs that read differently and were not looked at again.",
    )
    SHADOW_BYTES = (
        "dust/shadow/bytes",
        "In shadow mode: bytes of the answers that would not have been fetched.",
    )
    REDIRECTS_CONTINUED = (
        "dust/redirects_continued",
        "Redirects to the class they came from, which were followed and not taken for duplicates.",
    )
    HEIRS = (
        "dust/heirs",
        "Filtered URLs that were fetched after all, because the one that stood for them failed.",
    )
    ALIASES_AFTER_FAILURE = (
        "dust/aliases_after_failure",
        "URLs that were not filtered, because whatever stood for their class had failed before they came.",
    )
    LEARNED = (
        "dust/online/rules",
        "Rules that were learned while the crawl went on, and came into force in it.",
    )
    WAITED = (
        "dust/online/waited",
        "Requests that were put off until all others were done, since a likely rule makes them duplicates.",
    )
    PUT_LAST = (
        "dust/traps/last",
        "Requests that were put off until all others were done, since pages of their form had brought nothing new.",
    )
    LAST_FETCHED = "dust/traps/fetched", "Requests of these whose turn has come."
    CAPPED = (
        "dust/traps/capped",
        "Requests that were not fetched because nothing comes any more where they lead, less those that were fetched after all.",
    )
    TRAP_ERRORS = (
        "dust/traps/errors",
        "Requests and pages of which it could not be told whether they belong to a trap.",
    )
    ALIASES_WITHOUT_ROOM = (
        "dust/aliases_without_room",
        "URLs that were not filtered, because too many were already kept in case of a failure.",
    )
    KEPT_ALIVE = "dust/kept_alive", "Pages that were got although the first URL of their class had failed."

    REWRITTEN = "dust/rewritten", "Requests that were sent to the canonical URL instead of the one written."
    COPIES = (
        "dust/content/copies",
        (
            "Pages that are copies of pages under other URLs. `dust/content/copies/body`, `…/units` and `…/near` "
            "say by what they were known."
        ),
    )
    COPIES_DROPPED = "dust/content/dropped", "Copies that were dropped: no callback was called for them."
    COPIES_FOLLOWED = (
        "dust/content/followed",
        "Copies that were dropped but for the requests of their callback.",
    )
    COPIES_ASKED_FOR = (
        "dust/content/asked_for",
        "Dropped copies that were asked for again, because the callback of the page that they are copies of failed.",
    )
    COPY_ITEMS = "dust/content/items_withheld", "Items of copies whose requests were let through."
    COPIES_EXCUSED = (
        "dust/content/excused",
        (
            "Pages that are like another and were let through: `…/exempt` start URLs, `dont_filter` and "
            '`meta={"dust": False}`, `…/little` pages that say next to nothing, `…/error` pages that read like an '
            "error, `…/changed` pages whose URL showed something else before."
        ),
    )
    CONTENTS = "dust/content/pages", "Pages with a content that was new."
    CONTENT_ERRORS = (
        "dust/content/failures",
        "Pages that could not be compared, and were let through; and what else failed about it.",
    )
    ITEM_COPIES = "dust/content/item_copies", "Items that `ContentDedupPipeline` had seen before."

    KNOWN_SKIPPED = (
        "dust/known/skipped",
        "Requests that were not made, because an earlier crawl has taken the page (`DUST_KNOWN`).",
    )
    KNOWN_TAKEN = "dust/known/taken", "Pages of this crawl that are known from now on."
    KNOWN_ERRORS = "dust/known/failures", "What failed about known pages; these were fetched."

    TAKEN_OVER = (
        "dust/redis/taken_over",
        "Requests of workers that died, which this one has asked for instead.",
    )
    NOT_SHARED = (
        "dust/redis/not_shared",
        "Requests that no other worker could take over: their callback is no method of the spider, or their meta no JSON.",
    )
    REDIS_GONE = "dust/redis/gone", "How often Redis could not be reached, and the crawl waited for it."

    RULES = "dust/rules", "Rules in force."


#: So many rules have a stat of their own; what further rules filter is counted as ``…/others``.
RULES_COUNTED = 100
