"""The table of settings: each with its default, what its value may be, and its documentation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from scrapy_dust.settings.parsers import (
    choice,
    class_parts,
    component,
    host_list,
    integer,
    near_thresholds,
    seconds,
    selector_list,
    share,
    string_dict,
    string_list,
    switch,
    text,
)
from scrapy_dust.settings.parsing import PREFIX, parsed_values, setting_name

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

#: Words on short pages that show an error, a log-in or a block.
_ERRORS = tuple(
    "400|401|403|404|410|429|500|502|503|504|not found|error|forbidden|denied|unauthorized|unauthorised|captcha|"
    "robot|robots|are you human|just a moment|log in|login|sign in|session expired|timed out|timeout|try again|"
    "unavailable|maintenance|too many requests|rate limit|no longer available|does not exist|"
    "nicht gefunden|fehler|anmelden|nicht verfügbar|introuvable|erreur|connexion|no encontrada|no encontrado|"
    "iniciar sesión|non trovata|errore|accedi|não encontrada|erro|niet gevonden|fout|inloggen|nie znaleziono|"
    "błąd|не найдена|ошибка|войти|見つかりません|エラー|ログイン|未找到|错误|登录|찾을 수 없습니다|오류".split(
        "|"
    )
)

#: Words of URLs that do something.
_ACTIONS = tuple(
    (
        "logout logoff signout delete remove unsubscribe subscribe add-to-cart addtocart "
        "checkout purchase buy vote cancel confirm activate deactivate approve reject destroy "
        "reset signoff optout add-to-basket add-to-bag add-to-wishlist cart-add basket-add "
        "place-order pay donate erase purge trash revoke uninstall shutdown restart reboot"
    ).split()
)


def setting(default: object, parse: Callable[[object], Any], doc: str, symbol: str | None = None) -> Any:
    """A field of `DustSettings` with its default, its parser and its documentation. *symbol* is the name in the
    papers, under which users may give the setting as well.
    """
    return field(default=default, metadata={"parse": parse, "doc": doc, "symbol": symbol})


@dataclass(frozen=True, slots=True, kw_only=True)
class DustSettings:
    """All settings of a project, parsed. A field's setting is ``DUST_`` and the field's name in capitals."""

    enabled: bool = setting(True, switch, "Switches scrapy-dust on. `False` loads nothing of it.")
    dir: str | None = setting(
        None,
        text,
        "The folder, or for crawl logs the fsspec URI, that keeps crawl logs and state. Default: `.scrapy/dust` of the project.",
    )
    log_enabled: bool = setting(True, switch, "Write a crawl log, which `dustmine` reads.")
    log_process: bool = setting(
        True,
        switch,
        "Describe pages and write the log in a process of its own, so that the crawl does not wait for the log.",
    )
    log_units: bool = setting(
        True,
        switch,
        "Record all that a spider may take from each page, so that pages can be compared in full. A record takes three times the room.",
    )
    ignore: tuple[str, ...] = setting(
        (),
        selector_list,
        "CSS selectors of elements that change at each fetch and show nothing new, such as `#related` or `.ad`. Pages are compared without these elements.",
    )
    same: str = setting(
        "page",
        choice("page", "items"),
        "When two answers are one page. `page`: all that a spider may take from them is the same. `items`: the spider took the same items and requests from them; then nothing is fetched to validate rules.",
    )
    log_hide: tuple[str, ...] = setting(
        (),
        string_list,
        "Parameters, such as `token` or `email`, whose values the log must not show. The log has a keyed hash in the place of each value.",
    )
    log_keep_days: int | None = setting(
        None, integer(1), "Days after which a crawl log is removed. The latest log of each spider stays."
    )
    log_keep_crawls: int | None = setting(
        None, integer(1), "Number of crawl logs that are kept of each spider, the latest ones."
    )
    rules: tuple[str, ...] = setting(
        ("dust-rules.json",),
        string_list,
        "Rule books to read: paths or fsspec URIs. `dustmine` writes the first.",
    )
    mode: str = setting(
        "enforce",
        choice("enforce", "shadow", "off"),
        "`enforce` filters duplicates by the rules; `shadow` counts the requests that rules would filter, and filters none; `off` ignores the rules.",
    )
    canary_rate: float = setting(
        0.01,
        share,
        "Share of the suppressed URLs that are fetched all the same, so that rules stay tested, beside one of the first eight of each rule, a few more as these grow in number, and its last one; 0: none.",
    )
    max_age: int = setting(
        180,
        integer(0),
        "Days without a test after which a rule is tested again before it suppresses anything; 0: never.",
    )
    class_by: tuple[str, ...] = setting(
        ("callback",),
        class_parts,
        "Parts that two requests for one page must share so that one request is suppressed for the other: `callback` (with the errback), `cb_kwargs`, `meta:NAME` for a key of `meta`. A `CrawlSpider`'s `Rule`s always count, and so do the headers (but `User-Agent` and what Scrapy sets), the cookies and the `cookiejar` that the spider sets, unless `any_headers` or `any_cookies` stands here.",
    )
    skip_domains: tuple[str, ...] = setting(
        (), host_list, "Hosts, each with all below it, that rules leave alone, such as `shop.example.com`."
    )
    journal: bool = setting(
        True,
        switch,
        "Keep a journal of the URLs that rules suppress, for `dustrules explain` and `dustrules requeue`.",
    )
    metrics_file: str | None = setting(
        None,
        text,
        "Write the `dust/…` stats to this file, for Prometheus' node exporter, every 15 seconds and when the crawl ends. Default: no file.",
    )
    live_report: str | None = setting(
        None,
        text,
        "Show the crawl while it runs on a page for a browser, such as `live.html`, which is written anew every 3 seconds. `%(spider)s` stands for the spider's name. Default: no page.",
    )
    max_loss: float = setting(
        0.001,
        share,
        "Share of a log's URLs that its rules together may suppress wrongly, as an upper bound at 95 %.",
    )
    max_risk: float = setting(
        0.02,
        share,
        "Share of a rule's merges of new URLs that may be wrong. The rule is in force once the upper bound at 95 % is no higher than this. Until then the rule is on probation: it suppresses nothing, and crawls prove it.",
    )
    redis_url: str | None = setting(
        None,
        text,
        "Where `DustRedisDupeFilter` has its Redis, such as `redis://host:6379/0`. Default: where scrapy-redis has it.",
    )
    redis_key: str = setting(
        "dust:%(spider)s",
        text,
        "What the names of all keys in Redis begin with. Workers with the same one crawl together.",
    )
    redis_lease: int = setting(
        60,
        integer(1),
        "Seconds after which a worker that was not heard of is taken for dead, and its requests are given to others.",
    )
    redis_expire: int | None = setting(
        None,
        integer(60),
        "Seconds after which keys that no worker uses go by themselves. Default: never.",
    )
    learn: str = setting(
        "off",
        choice("off", "close", "online"),
        "`off`: only `dustmine` learns rules; `close` mines and validates rules right after each crawl; `online` learns rules while the crawl goes on, and applies them at once.",
    )
    traps: str = setting(
        "last",
        choice("last", "cap", "off"),
        "Forms of URLs that bring nothing new (a calendar, a path that repeats itself, filters of a list): `last` fetches them after all others, and loses nothing; `cap` fetches no more once so many pages in a row, drawn by chance, have shown that nothing comes any more; `off` as any other.",
    )
    traps_wanted: tuple[str, ...] = setting(
        (),
        string_list,
        "Forms that are fetched as any other, by their ids or as they are named: `trap-1a2b3c4d5e` or `https://example.com/calendar/0/0`.",
    )
    rewrite: bool = setting(
        False,
        switch,
        "Fetch the canonical URL in the place of the one that the site wrote, where canonical URLs of the rule have been seen to answer. `meta['dust_original_url']` has the URL that the site wrote.",
    )
    content_dedup: str = setting(
        "off",
        choice("off", "mark", "drop", "paper"),
        "What happens to a page whose content was seen under another URL: `mark` it in `response.meta`, or `drop` it before the callback. With `mark`, `ContentDedupPipeline` marks items as well. `paper`: the two-way check as it is published, to compare with; it loses pages.",
    )
    content_follow: bool = setting(
        False,
        switch,
        "Call the callback of a dropped copy for its links: its items are dropped, its requests not.",
    )
    content_near: Mapping[str, float | None] | None = setting(
        None,
        near_thresholds,
        "Whether nearly equal pages are copies: `True`, the resemblance from which on they are, or a dict of these by site (`*`: all others). Default: no.",
    )
    content_scope: str = setting(
        "site",
        choice("site", "all"),
        "Whether a page can be a copy of one of another site: `site` no, `all` yes.",
    )
    content_store: str | None = setting(
        None,
        text,
        "Where signatures are kept for later crawls and shared with others: a file, relative to DUST_DIR, or a `redis://` URL. Default: for this crawl (or its JOBDIR) only.",
    )
    content_keep_days: int | None = setting(
        None, integer(1), "Days without being seen after which a signature is forgotten."
    )
    content_errors: tuple[str, ...] = setting(
        _ERRORS,
        string_list,
        "What short pages say in title, heading or first words that are errors, log-ins or blocks: such a page is never a copy.",
    )
    content_fields: tuple[str, ...] = setting(
        (),
        string_list,
        "Fields of items that count, for `ContentDedupPipeline` and where pages are compared. None: all but the page's own URL.",
    )
    known: str = setting(
        "off",
        choice("off", "skip", "skip-items", "skip-all"),
        "Pages that an earlier crawl of the spider has taken and that are not asked for again, under whichever URL: `skip`: those of one item, of callbacks that never ask for further pages; `skip-items`: all that gave items; `skip-all`: all. What the spider starts with is fetched. `off`: none.",
    )
    known_days: int | None = setting(
        None, integer(1), "Days after which a page that was taken is fetched again. Default: never."
    )
    validation_budget: int = setting(
        1000, integer(0), "Fetches that one run of `dustmine` may spend on validating rules; 0: none."
    )
    validation_patience: float = setting(
        180.0,
        seconds,
        "Seconds that one run waits for one site, all pauses together. A site that asks for more, also as `Crawl-delay`, is left for another run.",
    )
    render_meta: dict[str, Any] | None = setting(
        None,
        string_dict,
        'What validation\'s requests for pages that a browser rendered have in their meta, such as `{"splash": {"args": {"wait": 1}}}`. Default: only what asks for the browser.',
    )
    learner: str = setting(
        "both",
        choice("both", "dustbuster", "dust", "seq2seq"),
        "The learner that finds rules: `dustbuster` (substring and parameter rules, as the papers have them), `dust` (guarded edits, ours), `both`, or `seq2seq` (both, and what a network proposes that is trained on the log; needs `scrapy-dust[neural]`). All of it is validated.",
    )
    network: str = setting(
        "plus",
        choice("plus", "paper"),
        "The network of the learner `seq2seq`: `paper`, as SIGIR 2017 has it, or `plus`, which is smaller, trains in a fraction of the time, and can copy.",
    )
    network_epochs: int | None = setting(
        None, integer(1), "How often training may go through a site's pairs. Default: as the network has it."
    )
    memory_limit: int | None = setting(
        None,
        integer(1),
        "Megabytes that `dustmine` may take while it mines, about. Beyond it the records of the logs wait on disk, in the folder for temporary files; of a site that takes more by itself, a part is mined, with all URLs of a content or none. Default: no limit.",
    )
    similar: str = setting(
        "auto",
        choice("auto", "sketch", "size", "none"),
        "How phase 1 tells unlikely pairs: by `sketch`, by `size`, by `none` of them, or `auto`: sketches where the log has them, else sizes.",
    )
    sketch_matches: int = setting(
        4,
        integer(1, 4),
        "How many of a sketch's four hashes must agree for two pages to be likely similar and, with the test `paper`, for a pair to be an example of a rule (k of 4).",
    )
    max_substring: int = setting(
        35, integer(1), "S in the paper: the longest substring of a rule, in tokens.", symbol="S"
    )
    bucket_low: int = setting(
        6, integer(2), "T_low in the paper: larger buckets give no support to likely rules.", symbol="T_LOW"
    )
    bucket_high: int = setting(
        11,
        integer(2),
        "T_high in the paper: the same, for the supports that elimination compares.",
        symbol="T_HIGH",
    )
    min_support: int = setting(
        3, integer(1), "MS in the paper: the least support of a likely rule.", symbol="MS"
    )
    max_relative_deficiency: float = setting(
        0.05,
        share,
        "MRD in the paper: how much smaller, relatively, the support of a refining rule may be.",
        symbol="MRD",
    )
    max_absolute_deficiency: int = setting(
        1, integer(0), "MAD in the paper: how much smaller it may be in all.", symbol="MAD"
    )
    max_window: int = setting(
        1100, integer(1), "MW in the paper: how far down the list elimination looks.", symbol="MW"
    )
    validation_test: str = setting(
        "sequential",
        choice("sequential", "paper"),
        "How a rule is tried: `sequential` bounds how much of it is wrong; `paper` is DustBuster's figure 3 and nothing else: N, ε and sketches, no loss budget, no bound.",
    )
    validation_count: int = setting(
        100, integer(1), "N in the paper: samples that validate a rule, with the test `paper`.", symbol="N"
    )
    refutation_threshold: float = setting(
        0.05, share, "ε in the paper: the share of counterexamples that refutes a rule.", symbol="EPSILON"
    )
    passes: int = setting(
        10, integer(1), "How often the rules are applied to a URL, at most, until it no longer changes."
    )
    never_probe: tuple[str, ...] = setting(
        _ACTIONS,
        string_list,
        "Words of a path, or of a parameter's name or value, that look like an action (`logout` is also `log-out` and `logOut`). A URL with one of them is never made up for validation.",
    )
    fallback_request_fingerprinter_class: Any = setting(
        "scrapy.utils.request.RequestFingerprinter", component, "The fingerprinter that ours wraps."
    )
    fallback_dupefilter_class: Any = setting(
        "scrapy.dupefilters.RFPDupeFilter", component, "The dupefilter that ours wraps."
    )
    fallback_scheduler: Any = setting(
        "scrapy.core.scheduler.Scheduler",
        component,
        "The scheduler that ours wraps, where URLs are rewritten.",
    )
    fallback_httpcache_storage: Any = setting(
        "scrapy.extensions.httpcache.FilesystemCacheStorage",
        component,
        "The storage of the HTTP cache that ours wraps.",
    )

    @classmethod
    def from_settings(cls, settings: BaseSettings, **overrides: object) -> DustSettings:
        """Read all ``DUST_*`` settings; *overrides*, by field name, win where they are not None."""
        given = {str(name): settings[name] for name in settings if str(name).startswith(PREFIX)}
        given |= {setting_name(name): value for name, value in overrides.items() if value is not None}
        return cls.parse(given)

    @classmethod
    def parse(cls, given: Mapping[str, object]) -> DustSettings:
        """Parse raw values by setting name. Raises `ValueError` with one sentence for a wrong name or value."""
        parsed = cls(**parsed_values(fields(cls), given))
        if parsed.bucket_high < parsed.bucket_low:
            raise ValueError(
                f"DUST_BUCKET_HIGH must be at least DUST_BUCKET_LOW ({parsed.bucket_low}), got {parsed.bucket_high}."
            )
        return parsed
