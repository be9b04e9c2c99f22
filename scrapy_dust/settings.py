"""Every ``DUST_*`` setting, declared once: its name, default, bounds and meaning.

`DustSettings.from_settings` is the only code that reads them. A name that does not exist or a value that
cannot be meant stops the crawl with a sentence; a typo must not silently switch a feature off.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

PREFIX = "DUST_"


class _Wrong(Exception):
    """What a value should have been."""


def _switch(value: object) -> bool:
    if isinstance(value, bool):
        return value
    answer = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
    try:
        return answer[str(value).strip().lower()]
    except KeyError:
        raise _Wrong("True or False") from None


def _integer(least: int, most: int | None = None) -> Callable[[object], int]:
    def parse(value: object) -> int:
        said = f"an integer of at least {least}" + (f" and at most {most}" if most is not None else "")
        if isinstance(value, bool) or not isinstance(value, (int, str)):
            raise _Wrong(said)
        try:
            number = int(value)
        except ValueError:
            raise _Wrong(said) from None
        if number < least or (most is not None and number > most):
            raise _Wrong(said)
        return number

    return parse


def _share(value: object) -> float:
    try:
        number = float(str(value))
    except ValueError:
        raise _Wrong("a number from 0 to 1") from None
    if not 0 <= number <= 1:
        raise _Wrong("a number from 0 to 1")
    return number


def _seconds(value: object) -> float:
    try:
        number = float(str(value))
    except ValueError:
        raise _Wrong("a number of seconds") from None
    if isinstance(value, bool) or not 0 <= number < 1e9:
        raise _Wrong("a number of seconds")
    return number


def _mapping(value: object) -> dict[str, Any]:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            raise _Wrong("a dict with string keys") from None
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise _Wrong("a dict with string keys")
    return dict(value)


def _choice(*names: str) -> Callable[[object], str]:
    def parse(value: object) -> str:
        if value not in names:
            raise _Wrong("one of " + ", ".join(repr(name) for name in names))
        return str(value)

    return parse


def _only(value_so_far: object) -> Callable[[object], Any]:
    """Of a setting whose name is fixed already, and whose other values later versions bring."""

    def parse(value: object) -> Any:
        if str(value) != str(value_so_far):
            raise _Wrong(f"{value_so_far!r} in this version")
        return value_so_far

    return parse


def _names(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        text = value.strip()
        if text.startswith("["):
            try:
                value = json.loads(text)
            except ValueError:
                raise _Wrong("a list of strings") from None
        else:
            value = [part.strip() for part in text.split(",") if part.strip()]
    if not isinstance(value, (list, tuple)) or not all(isinstance(name, str) for name in value):
        raise _Wrong("a list of strings")
    return tuple(value)


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise _Wrong("a non-empty string")
    return value


#: Of near-duplicates, where no other is named: what `dust.judging` asks of two pages too.
NEAR = 0.9


def _near(value: object) -> Mapping[str, float | None]:
    """By site; ``*``: where no other is named. None: not at all."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = json.loads(value)
        except ValueError:
            value = None
    by_site = value if isinstance(value, Mapping) else {"*": value}
    return MappingProxyType({str(site): _resemblance(one) for site, one in by_site.items()})


def _resemblance(value: object) -> float | None:
    said = "True, False, a number above 0.5 and at most 1, or a dict of these by site"
    if str(value).strip().lower() in ("true", "yes", "1.0", "1") and value is not None:
        return NEAR if isinstance(value, (bool, str)) else 1.0
    if str(value).strip().lower() in ("false", "no", "none", "0"):
        return None
    try:
        share = _share(value)
    except _Wrong:
        share = 0.0
    if share <= 0.5:
        raise _Wrong(said)
    return share


def _class(value: object) -> Any:
    return value


def _setting(default: object, parse: Callable[[object], Any], doc: str, symbol: str | None = None) -> Any:
    """*symbol*: the papers' name, which works as the setting's name too."""
    return field(default=default, metadata={"parse": parse, "doc": doc, "symbol": symbol})


@dataclass(frozen=True, slots=True, kw_only=True)
class DustSettings:
    """All settings, parsed. A field's setting is ``DUST_`` and its name in capitals."""

    enabled: bool = _setting(True, _switch, "Whether scrapy-dust does anything at all.")
    dir: str | None = _setting(
        None,
        _text,
        "Where crawl logs and state live: a folder, or an fsspec URI for the logs. Default: `.scrapy/dust` of the project.",
    )
    log_enabled: bool = _setting(True, _switch, "Record this crawl.")
    log_process: bool = _setting(
        True,
        _switch,
        "Describe pages and write the log in a process beside the crawl, so that it does not wait for that.",
    )
    log_hide: tuple[str, ...] = _setting(
        (),
        _names,
        "Parameters whose values the log must not tell, such as `token` or `email`: a keyed hash stands for each.",
    )
    log_keep_days: int | None = _setting(
        None, _integer(1), "Logs of crawls that began longer ago are removed, but for a spider's latest."
    )
    log_keep_crawls: int | None = _setting(
        None, _integer(1), "Of each spider so many logs are kept, the latest."
    )
    log_keep_bytes: int | None = _setting(
        None,
        _integer(0),
        "Of each spider so many bytes of logs are kept, the latest, and the latest log in any case.",
    )
    rules: tuple[str, ...] = _setting(
        ("dust-rules.json",), _names, "Rule books to read: paths or fsspec URIs. `dustmine` writes the first."
    )
    mode: str = _setting(
        "enforce",
        _choice("enforce", "shadow", "off"),
        "`enforce`; `shadow` counts what would be filtered and filters nothing; `off` ignores the rules.",
    )
    canary_rate: float = _setting(
        0.01,
        _share,
        "Share of the URLs that rules suppress which are fetched all the same, so that rules stay tested.",
    )
    max_age: int = _setting(
        180,
        _integer(0),
        "Days after which a rule that nothing has tested since is tested again before it is used; 0: never.",
    )
    skip_domains: tuple[str, ...] = _setting(
        (), _names, "Hosts, each with all below it, that rules leave alone, such as `shop.example.com`."
    )
    journal: bool = _setting(
        True,
        _switch,
        "Keep a journal of the URLs that rules suppress, for `dustrules explain` and `dustrules requeue`.",
    )
    journal_keep_bytes: int = _setting(
        256 << 20, _integer(0), "Of each spider so many bytes of journals are kept, the latest."
    )
    metrics_file: str | None = _setting(
        None,
        _text,
        "Write the `dust/…` stats to this file, for Prometheus' node exporter, every 15 seconds and when the crawl ends. Default: no file.",
    )
    max_loss: float = _setting(
        0.001,
        _share,
        "Share of a log's URLs that its rules together may suppress wrongly, as an upper bound at 95 %.",
    )
    rendered_fragments: bool = _setting(
        True,
        _switch,
        "Whether URLs that a browser renders (scrapy-playwright, scrapy-splash) and that differ in their fragment are different pages, as long as no rule says otherwise.",
    )
    redis_url: str | None = _setting(
        None,
        _text,
        "Where `DustRedisDupeFilter` has its Redis, such as `redis://host:6379/0`. Default: where scrapy-redis has it.",
    )
    redis_key: str = _setting(
        "dust:%(spider)s",
        _text,
        "What the names of all keys in Redis begin with. Workers with the same one crawl together.",
    )
    redis_lease: int = _setting(
        60,
        _integer(1),
        "Seconds after which a worker that was not heard of is taken for dead, and its requests are given to others.",
    )
    redis_expire: int | None = _setting(
        None,
        _integer(60),
        "Seconds after which keys that no worker uses go by themselves. Default: never.",
    )
    learn: str = _setting(
        "off", _choice("off", "close"), "`off`; `close` mines and validates rules right after each crawl."
    )
    rewrite: bool = _setting(
        False,
        _switch,
        "Fetch the canonical URL, not only key on it, where the rules' targets have been seen to answer. The URL as it was written is in `meta['dust_original_url']`.",
    )
    cache_by_class: bool = _setting(
        False,
        _switch,
        "Let the HTTP cache answer a request with a page that it has under another URL of the same class.",
    )
    content_dedup: str = _setting(
        "off",
        _choice("off", "mark", "drop"),
        "Content already seen under another URL: `mark` it in `response.meta`, or `drop` it before the callback.",
    )
    content_follow: bool = _setting(
        False,
        _switch,
        "Call the callback of a dropped copy for its links: its items are dropped, its requests not.",
    )
    content_near: Mapping[str, float | None] | None = _setting(
        None,
        _near,
        "Whether nearly equal pages are copies: `True`, the resemblance from which on they are, or a dict of these by site (`*`: all others). Default: no.",
    )
    content_scope: str = _setting(
        "site",
        _choice("site", "all"),
        "Whether a page can be a copy of one of another site: `site` no, `all` yes.",
    )
    content_store: str | None = _setting(
        None,
        _text,
        "Where signatures are kept for later crawls and shared with others: a file, relative to DUST_DIR, or a `redis://` URL. Default: for this crawl (or its JOBDIR) only.",
    )
    content_keep_days: int | None = _setting(
        None, _integer(1), "A signature that was not seen for so many days is forgotten."
    )
    content_errors: tuple[str, ...] = _setting(
        tuple(
            "400|401|403|404|410|429|500|502|503|504|not found|error|forbidden|denied|unauthorized|unauthorised|captcha|"
            "robot|robots|are you human|just a moment|log in|login|sign in|session expired|timed out|timeout|try again|"
            "unavailable|maintenance|too many requests|rate limit|no longer available|does not exist|"
            "nicht gefunden|fehler|anmelden|nicht verfügbar|introuvable|erreur|connexion|no encontrada|no encontrado|"
            "iniciar sesión|non trovata|errore|accedi|não encontrada|erro|niet gevonden|fout|inloggen|nie znaleziono|"
            "błąd|не найдена|ошибка|войти|見つかりません|エラー|ログイン|未找到|错误|登录|찾을 수 없습니다|오류".split(
                "|"
            )
        ),
        _names,
        "What short pages say in title, heading or first words that are errors, log-ins or blocks: such a page is never a copy.",
    )
    content_fields: tuple[str, ...] = _setting(
        (), _names, "Fields that `ContentDedupPipeline` compares items by. None: all but `url`."
    )
    content_item_action: str = _setting(
        "drop",
        _choice("drop", "mark"),
        "What `ContentDedupPipeline` does with an item seen before: `drop` it, or `mark` it in its field `dust_duplicate_of`.",
    )
    content_item_near: float | None = _setting(
        None,
        _share,
        "The resemblance from which on `ContentDedupPipeline` takes two items for one. Default: equal ones only.",
    )
    validation_budget: int = _setting(1000, _integer(0), "Fetches that one run of `dustmine` may spend.")
    validation_site_budget: int | None = _setting(
        None, _integer(0), "Of these, fetches that one site may be asked for. Default: no limit of its own."
    )
    validation_pause: float = _setting(
        2.0,
        _seconds,
        "Seconds that a site is left alone after it has said that it is asked too much (429, 503, or 403 again and again), twice as long each time, unless it says itself how long.",
    )
    validation_patience: float = _setting(
        180.0,
        _seconds,
        "Seconds that one run waits for one site, all pauses together. A site that asks for more, also as `Crawl-delay`, is left for another run.",
    )
    render_meta: dict[str, Any] | None = _setting(
        None,
        _mapping,
        'What validation\'s requests for pages that a browser rendered have in their meta, such as `{"splash": {"args": {"wait": 1}}}`. Default: only what asks for the browser.',
    )
    learner: str = _setting(
        "both",
        _choice("both", "dustbuster", "dust"),
        "Who finds rules: `dustbuster` (substring and parameter rules, as the papers have them), `dust` (guarded edits, ours), or `both`. All of it is validated.",
    )
    similar: str = _setting(
        "auto",
        _choice("auto", "sketch", "size", "none"),
        "How phase 1 tells unlikely pairs: by `sketch`, by `size`, by `none` of them, or `auto`: sketches where the log has them, else sizes.",
    )
    sketch_matches: int = _setting(
        4,
        _integer(1),
        "How many of a sketch's hashes must agree for two pages to be likely similar (k of 4).",
    )
    max_substring: int = _setting(
        35, _integer(1), "S in the paper: the longest substring of a rule, in tokens.", symbol="S"
    )
    bucket_low: int = _setting(
        6, _integer(2), "T_low in the paper: larger buckets give no support to likely rules.", symbol="T_LOW"
    )
    bucket_high: int = _setting(
        11,
        _integer(2),
        "T_high in the paper: the same, for the supports that elimination compares.",
        symbol="T_HIGH",
    )
    min_support: int = _setting(
        3, _integer(1), "MS in the paper: the least support of a likely rule.", symbol="MS"
    )
    max_relative_deficiency: float = _setting(
        0.05,
        _share,
        "MRD in the paper: how much smaller, relatively, the support of a refining rule may be.",
        symbol="MRD",
    )
    max_absolute_deficiency: int = _setting(
        1, _integer(0), "MAD in the paper: how much smaller it may be in all.", symbol="MAD"
    )
    max_window: int = _setting(
        1100, _integer(1), "MW in the paper: how far down the list elimination looks.", symbol="MW"
    )
    validation_test: str = _setting(
        "sequential",
        _choice("sequential", "paper"),
        "When a rule has been tried enough: `sequential` bounds how much of it is wrong; `paper` is DustBuster's N and ε.",
    )
    validation_count: int = _setting(
        100, _integer(1), "N in the paper: samples that validate a rule, with the test `paper`.", symbol="N"
    )
    refutation_threshold: float = _setting(
        0.05, _share, "ε in the paper: the share of counterexamples that refutes a rule.", symbol="EPSILON"
    )
    passes: int = _setting(
        10, _integer(1), "How often the rules are applied to a URL, at most, until it no longer changes."
    )
    never_probe: tuple[str, ...] = _setting(
        (
            "logout",
            "logoff",
            "signout",
            "delete",
            "remove",
            "unsubscribe",
            "subscribe",
            "add-to-cart",
            "addtocart",
            "checkout",
            "purchase",
            "buy",
            "vote",
            "cancel",
            "confirm",
            "activate",
            "deactivate",
            "approve",
            "reject",
            "destroy",
            "reset",
            "signoff",
            "optout",
            "add-to-basket",
            "add-to-bag",
            "add-to-wishlist",
            "cart-add",
            "basket-add",
            "place-order",
            "pay",
            "donate",
            "erase",
            "purge",
            "trash",
            "revoke",
            "uninstall",
            "shutdown",
            "restart",
            "reboot",
        ),
        _names,
        "Words of a path, or of a parameter's name or value, that look like an action (`logout` is also `log-out` and `logOut`). A URL with one of them is never made up for validation.",
    )
    fallback_request_fingerprinter_class: Any = _setting(
        "scrapy.utils.request.RequestFingerprinter", _class, "The fingerprinter that ours wraps."
    )
    fallback_dupefilter_class: Any = _setting(
        "scrapy.dupefilters.RFPDupeFilter", _class, "The dupefilter that ours wraps."
    )
    fallback_scheduler: Any = _setting(
        "scrapy.core.scheduler.Scheduler", _class, "The scheduler that ours wraps, where URLs are rewritten."
    )
    fallback_httpcache_storage: Any = _setting(
        "scrapy.extensions.httpcache.FilesystemCacheStorage",
        _class,
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
        """From setting names and raw values. Raises `ValueError`, in one sentence, for what cannot be meant."""
        known = {setting_name(spec.name): spec for spec in fields(cls)}
        symbols = {PREFIX + spec.metadata["symbol"]: spec for spec in fields(cls) if spec.metadata["symbol"]}
        values: dict[str, Any] = {}
        for name, value in given.items():
            spec = known.get(name) or symbols.get(name)
            if spec is None:
                raise ValueError(_unknown(name, known))
            if spec.name in values:
                said = f"{setting_name(spec.name)} is given twice, also as {PREFIX}{spec.metadata['symbol']}."
                raise ValueError(f"{said} Keep one of the two.")
            if value is None and spec.default is None:
                continue
            try:
                values[spec.name] = spec.metadata["parse"](value)
            except _Wrong as wrong:
                raise ValueError(f"{name} must be {wrong}, got {value!r}.") from None
        parsed = cls(**values)
        if parsed.bucket_high < parsed.bucket_low:
            raise ValueError(
                f"DUST_BUCKET_HIGH must be at least DUST_BUCKET_LOW ({parsed.bucket_low}), got {parsed.bucket_high}."
            )
        return parsed


def setting_name(field_name: str) -> str:
    return PREFIX + field_name.upper()


def _unknown(name: str, known: Mapping[str, object]) -> str:
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.0)
    return f"{name} is not a setting of scrapy-dust. Did you mean {near[0]}? docs/settings.md lists them all."
