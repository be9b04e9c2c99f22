"""The targets: each takes any bytes, and raises only where we are wrong.

What a target's parser may say of its input (`DustError`, `Damaged`, `Unreadable`) is caught here and is no failure;
every other exception is one, and so is a law that does not hold for what was read.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any, cast

from scrapy import Request, Spider
from scrapy.utils.test import get_crawler

from scrapy_dust.crawl.fingerprinter import DustRequestFingerprinter
from scrapy_dust.crawl_log import read_visits
from scrapy_dust.crawl_log.format_detection import FORMATS
from scrapy_dust.crawl_log.hiding import Hider, is_hidden
from scrapy_dust.crawl_log.log_formats import matcher_of
from scrapy_dust.errors import CrawlLogError, DustError, RuleBookError
from scrapy_dust.exchange.formats import EXPORTS, IMPORTS, exported, imported
from scrapy_dust.journal import reader as journal
from scrapy_dust.page.content import content_of
from scrapy_dust.page.marks import marks_of
from scrapy_dust.page.sketch import describe
from scrapy_dust.redis.request_json import from_json, thaw, to_json
from scrapy_dust.rule_book.book import RuleBook
from scrapy_dust.rule_book.document import Document, parse, render
from scrapy_dust.rule_book.entries import Entry
from scrapy_dust.rule_book.verdicts import Verdicts
from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.rules.captures import captures_of
from scrapy_dust.rules.json_rules import check_rule
from scrapy_dust.rules.language import OPERATIONS
from scrapy_dust.rules.operation import Operation
from scrapy_dust.rules.parameters import DropParameter, SetParameter
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.substitution import Substitute
from scrapy_dust.sites import site_of
from scrapy_dust.trials.actions import ActionWords
from scrapy_dust.trials.journal import ProbeJournal
from scrapy_dust.trials.limits import Limits
from scrapy_dust.url.parts import parts_of
from scrapy_dust.url.tokens import tokenize
from scrapy_dust.visits.strata import template_of

#: In this the bytes stand that only files are read from.
_FOLDER = tempfile.mkdtemp(prefix="fuzz-")
atexit.register(shutil.rmtree, _FOLDER, ignore_errors=True)

_NAMES = {
    "csv": "log.csv",
    "parquet": "log.parquet",
    "cc-index": "log.parquet",
    "warc": "log.warc",
    "nutch": "dump",
    "cdx": "log.cdx",
    "cdxj": "log.cdxj",
    "auto": "log",
}
_SITES = ("a.example",)
_URL = "http://a.example/p?a=1&b=2;c=3#d"
_WORDS = ActionWords(["logout", "delete", "cart"])
_SPIDER = Spider("fuzz")
_HIDER = Hider(["token", "a"], b"k" * 16)


def log(data: bytes) -> None:
    """A log of each format; its first line says which."""
    first, _, content = data.partition(b"\n")
    said = first.decode("latin-1")
    name = said if said in FORMATS else "auto"
    path = _written(content, _NAMES.get(name, "log.jsonl"))
    reading = read_visits(path, name, base_url="http://a.example")
    with suppress(CrawlLogError):
        for visit in reading:
            site_of(visit.url)
    assert reading.unreadable_count >= len(reading.unreadable)


def log_format(data: bytes) -> None:
    """A server's own format, up to the first line's end, and lines in it."""
    said, _, line = data.decode("utf-8", "replace").partition("\n")
    with suppress(ValueError):
        matcher_of(said).match(line)


def rule_book(data: bytes) -> None:
    """What is read of a rule book, written and read again, is the same; and its rules can be applied."""
    try:
        document = parse("rules.json", data)
    except RuleBookError:
        return
    written = render(document, "fuzz")
    again = parse("rules.json", written)
    assert render(again, "fuzz") == written
    assert again.sites == document.sites
    for site, entries in document.sites.items():
        _laws_of_keys([entry.rule for entry in entries], f"http://{site}/p?a=1&b=2;c=3#d", site)


def verdicts(data: bytes) -> None:
    path = _written(data, "verdicts.json")
    known = Verdicts.load(path)
    if known.warning is None:
        known.save(path)
        assert Verdicts.load(path).sites == known.sites


def rules_from_elsewhere(data: bytes) -> None:
    """A list of rules in each format; its first byte says which. What was taken goes out again in every format."""
    names = ("auto", *IMPORTS)
    name = names[data[0] % len(names)] if data else "auto"
    try:
        found = imported("robots.txt", data[1:], _SITES, name)
    except DustError:
        return
    taken: dict[str, tuple[Entry, ...]] = {}
    for site, rule in found.rules:
        taken[site] = (*taken.get(site, ()), Entry(rule))
    for site, entries in taken.items():
        _laws_of_keys([entry.rule for entry in entries], f"http://{site}/p?a=1", site)
    for to in EXPORTS:
        exported(taken, to)
    # Whatever was taken, a rule book can hold.
    assert parse("rules.json", render(Document(taken), "fuzz")).sites == taken


def keys(data: bytes) -> None:
    """Rules and a URL, line by line: a key is its own key and of the URL's site, and no URL stops the crawl."""
    *said, url = data.decode("utf-8", "surrogateescape").split("\n")
    rules = list(_rules(said[:8]))
    if not url.startswith(("http://", "https://")):
        url = "http://a.example/" + url
    _laws_of_keys(rules, url, site_of(url))
    limits = Limits("a.example", [_URL], ["logout"])
    for look in (parts_of, template_of, tokenize, is_hidden, limits.may_follow, limits.has):
        look(url)
    assert parts_of(url).url == url
    assert "".join(tokenize(url)) == url or not url
    assert is_hidden(_HIDER.hide(url)) or _HIDER.hide(url) == url
    bool(url in _WORDS)
    captures_of(("/", 0, "-", 1, "!"), ("numbers", "word"), url + "!")
    with suppress(ValueError):  # Scrapy's own word on what is no URL
        request = Request(url)
        assert _FINGERPRINTER.fingerprint(request) == _FINGERPRINTER.fingerprint(request.copy())


def page(data: bytes) -> None:
    """A page as it came, in any encoding, of any type."""
    kind, _, body = data.partition(b"\n")
    kinds = ("text/html", "text/plain", "application/xhtml+xml", "application/json", "image/png", None)
    content_type = kinds[kind[0] % len(kinds)] if kind[:1] else kind.decode("latin-1")
    encoding = kind[1:].decode("latin-1") or None
    one = describe(body, content_type, encoding, _URL)
    assert one.words >= 0
    assert all(0 <= part < 2**63 for part in one.sketch)
    content_of(body, content_type, encoding, _URL)
    marks_of(body, one.words, is_markup=content_type == "text/html")


def pdf(data: bytes) -> None:
    describe(b"%PDF-1.4\n" + data, "application/pdf", None, _URL)


def journals(data: bytes) -> None:
    """What a crawl suppressed, and what validation was answered: torn, half written or made up."""
    path = _written(data, "journal.jsonl")
    counts = journal.Counts()
    for _, event in journal.read([path], counts):
        assert event.url is not None
    with ProbeJournal(path, writing=False) as answers:
        assert len(answers) >= 0


def from_redis(data: bytes) -> None:
    """What another machine wrote: read or refused, never run."""
    try:
        value = from_json(data)
    except ValueError:
        return
    to_json(value)
    with suppress(ValueError):
        thaw(data, _SPIDER)


TARGETS: Mapping[str, Callable[[bytes], None]] = {
    one.__name__: one
    for one in (
        log,
        log_format,
        rule_book,
        verdicts,
        rules_from_elsewhere,
        keys,
        page,
        pdf,
        journals,
        from_redis,
    )
}


def _written(content: bytes, name: str) -> Path:
    path = Path(_FOLDER, name)
    path.write_bytes(content)
    return path


def _rules(lines: Sequence[str]) -> Iterator[Rule]:
    """``do|field|field``, or ``alpha → beta``, which may begin with ^ and end with $, as far as they can be meant."""
    for line in lines:
        alpha, arrow, beta = line.partition(" → ")
        if arrow:
            ends = {"start": alpha[:1] == "^", "end": beta[-1:] == "$"}
            operation: Operation | None = Substitute(alpha.removeprefix("^"), beta.removesuffix("$"), **ends)
        else:
            operation = _operation(*line.split("|"))
        with suppress(ValueError):
            if operation is not None:
                rule = Rule.of(operation)
                check_rule(rule)
                yield rule


def _operation(do: str, *values: str) -> Operation | None:
    """The operation that is called so, made of texts as its fields want them."""
    kind = OPERATIONS.get(do)
    if kind is None or len(values) != len(fields(cast("Any", kind))):
        return None
    made = zip(fields(cast("Any", kind)), values, strict=True)
    try:
        return cast("type[Any]", kind)(*(_AS[str(spec.type)](value) for spec, value in made))
    except ValueError:
        return None


#: By the annotation of an operation's field.
_AS: Mapping[str, Callable[[str], object]] = {
    "str": str,
    "str | None": lambda text: text or None,
    "bool": bool,
    "int": int,
    "tuple[str, ...]": lambda text: tuple(text.split(",")),
    "frozenset[str]": lambda text: frozenset(text.split(",")),
    "Form": lambda text: tuple(int(one) if one.isdecimal() else one for one in text.split(",")),
}


def _laws_of_keys(rules: Sequence[Rule], url: str, site: str | None) -> None:
    canonizer = Canonizer({site: rules} if site else {}, site_of)
    key = canonizer.canonize(url)
    assert canonizer.canonize(key) == key, (rules, url, key)
    assert site_of(key) == site_of(url), (rules, url, key)
    assert canonizer.explain(url) == () or key != url


def _fingerprinter() -> DustRequestFingerprinter:
    path = Path(_FOLDER, "rules.json")
    rules = (
        Rule.of(DropParameter("a")),
        Rule.of(SetParameter("b", "1")),
        Rule.of(Substitute("/p", "/q")),
        Rule.of(Substitute("/", "", end=True)),
    )
    RuleBook().with_site("a.example", [Entry(rule) for rule in rules]).save(path)
    crawler = get_crawler(Spider, {"DUST_RULES": [str(path)], "DUST_DIR": _FOLDER})
    return DustRequestFingerprinter.from_crawler(crawler)


_FINGERPRINTER = _fingerprinter()
