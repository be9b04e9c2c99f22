"""The formats of rules by name, and detection of a file's format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePath

from scrapy_dust.exchange import clean_param, clearurls, csv_tables, dud, no_vary_search, nutch, servers
from scrapy_dust.exchange.transfer import Collected, Entries, ExchangeError, Exported, Imported
from scrapy_dust.rule_book import RuleBook
from scrapy_dust.rule_book.document import Document, parse
from scrapy_dust.rules.strict_json import Damaged, load_json

Sites = tuple[str, ...]


def _export_rule_book(entries: Entries) -> Exported:
    """The *entries* as a rule book of ours."""
    return Exported(
        RuleBook(Document({site: tuple(entries[site]) for site in entries})).rendered().decode(), ()
    )


EXPORTS: Mapping[str, Callable[[Entries], Exported]] = {
    "json": _export_rule_book,
    "csv": csv_tables.export,
    "dud": dud.export,
    "clean-param": clean_param.export,
    "no-vary-search": no_vary_search.export,
    "nginx": servers.nginx,
    "apache": servers.apache,
    "regex": nutch.export,
}


def exported(entries: Entries, name: str) -> Exported:
    """The rules in force among *entries*, written in the format *name*."""
    return EXPORTS[name](entries)


def _import_rule_book(path: str, content: bytes, sites: Sites) -> Imported:
    """The rules of another rule book of ours, in *content*."""
    collected = Collected(sites)
    document = parse(path, content)
    for site, entries in document.sites.items():
        for entry in entries:
            collected.take(site, entry.rule, str(entry.rule))
    return collected.imported()


def _decoded(content: bytes) -> str:
    """*content* as text. Raises `Damaged` where it is not UTF-8."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise Damaged(f"line {line} is not UTF-8 (byte 0x{content[error.start]:02x})") from None


IMPORTS: Mapping[str, Callable[[str, bytes, Sites], Imported]] = {
    "json": _import_rule_book,
    "csv": lambda path, content, sites: csv_tables.read(_decoded(content), sites),
    "dud": lambda path, content, sites: dud.read(load_json(content), sites),
    "clearurls": lambda path, content, sites: clearurls.read(load_json(content), sites),
    "clean-param": lambda path, content, sites: clean_param.read(_decoded(content), sites),
    "no-vary-search": lambda path, content, sites: no_vary_search.read(_decoded(content), sites),
    "regex": lambda path, content, sites: nutch.read(content, sites),
}


def imported(path: str, content: bytes, sites: Sites, name: str = "auto") -> Imported:
    """The rules in *content*. *path* is for messages; *sites*: the sites of rules that name none.

    Raises `ExchangeError` where it is no file of its format.
    """
    try:
        return IMPORTS[format_of(path, content) if name == "auto" else name](path, content, sites)
    except Damaged as error:
        raise ExchangeError(path, f"{error}. Check the file, or name its format with --format.") from None


def format_of(path: str, content: bytes) -> str:
    """The name of the format that *content* is written in. Raises `Damaged` where it cannot be told."""
    suffix, begin = PurePath(path).suffix.lower(), content.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if begin == b"<":
        return "regex"
    if begin == b"[":
        return "dud"
    if begin == b"{":
        return "clearurls" if clearurls.is_clearurls(load_json(content)) else "json"
    if suffix == ".csv":
        return "csv"
    text = _decoded(content)
    if no_vary_search.is_no_vary_search(text):
        return "no-vary-search"
    if clean_param.is_clean_param(text) or PurePath(path).name == "robots.txt":
        return "clean-param"
    raise Damaged("its format cannot be told")
