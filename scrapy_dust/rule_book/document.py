"""The JSON of a rule book: every value is checked on its way in; schema.json says the same to other programs.

What a rule does must be spelled out (``start`` and ``end`` too): a misspelt key must not make a rule wider.
Keys that are not ours are kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from scrapy_dust.errors import RuleBookError
from scrapy_dust.rule_book.entries import BOUNDS, COUNTS, Entry, Evidence, Examples, Status, rule_id
from scrapy_dust.rules.json_rules import rule_json, rule_of
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.strict_json import Block, Damaged, dump_json, load_json

#: The format of rule books that this version reads and writes. `scrapy dustrules migrate` brings older ones to it.
FORMAT = 3

MEND = "Mend it there, put a good copy in its place, or delete the file to start anew."


@dataclass(frozen=True, slots=True)
class Document:
    """The content of one rule book file."""

    sites: Mapping[str, tuple[Entry, ...]] = field(default_factory=dict)
    extra: Mapping[str, object] = field(default_factory=dict)  #: keys of the file that are not ours
    site_extra: Mapping[str, Mapping[str, object]] = field(default_factory=dict)  #: the same of each site


def parse(path: str, content: bytes) -> Document:
    """The rule book in *content*. Raises `RuleBookError`, which names *path*."""
    try:
        book = Block(load_json(content), "the file")
        _check_format(book)
        book.take("generator", None)
        sites: dict[str, tuple[Entry, ...]] = {}
        site_extra: dict[str, dict[str, object]] = {}
        met: dict[Rule, Rule] = {}
        for site, value in Block(book.take("sites"), "'sites'").rest().items():
            sites[site], unknown = _parse_site(site, value, met)
            if unknown:
                site_extra[site] = unknown
        return Document(sites, book.rest(), site_extra)
    except _OtherFormat as other:
        raise RuleBookError(path, str(other)) from None
    except Damaged as damaged:
        raise RuleBookError(path, f"{damaged}. {MEND}") from None


def render(document: Document, generator: str) -> bytes:
    """*document* as the bytes of a file: sites sorted, rules in the order in which they are applied."""
    sites = {
        site: {"rules": [entry_json(site, entry) for entry in document.sites[site]]}
        | _without_known(document.site_extra.get(site, {}), {"rules"})
        for site in sorted(document.sites)
    }
    book = {"format": FORMAT, "generator": generator, "sites": sites}
    return dump_json(book | _without_known(document.extra, book), indent=2)


def entry_json(site: str, entry: Entry) -> dict[str, Any]:
    """The JSON object of one rule in a rule book."""
    known: dict[str, Any] = {"id": rule_id(site, entry.rule)} | rule_json(entry.rule)
    known["status"] = str(entry.status)
    for key in ("reason", "comment"):
        if getattr(entry, key) is not None:
            known[key] = getattr(entry, key)
    known["evidence"] = _evidence_json(entry)
    return known | _without_known(entry.extra, known)


def _evidence_json(entry: Entry) -> dict[str, Any]:
    evidence = entry.evidence
    known: dict[str, Any] = {name: getattr(evidence, name) for name in COUNTS}
    known |= {name: getattr(evidence, name) for name in BOUNDS}
    known["first_validated"] = evidence.first_validated
    known["last_validated"] = evidence.last_validated
    known["logs"] = list(evidence.logs)
    if evidence.shown:
        known["shown"] = dict(evidence.shown)
    known["examples"] = [list(pair) for pair in evidence.examples]
    return known | _without_known(entry.evidence_extra, known)


def _without_known(extra: Mapping[str, object], known: Mapping[str, object] | set[str]) -> dict[str, object]:
    """The keys of *extra*, which are not ours, without those in *known*."""
    return {key: value for key, value in extra.items() if key not in known}


class _OtherFormat(Exception):
    """An error that names a format of rule books that this version does not read."""


def _check_format(book: Block) -> None:
    """Raise an error if *book* has a format that this version does not read."""
    found = book.count("format")
    if found > FORMAT:
        raise _OtherFormat(f"has format {found}; this version reads {FORMAT}. Upgrade scrapy-dust.")
    if found < 1:
        raise Damaged(f"'format' must be {FORMAT}, got {found}")
    if found < FORMAT:
        raise _OtherFormat(
            f"has format {found}, of an older version; `scrapy dustrules migrate` brings the book to format {FORMAT}."
        )


def _parse_site(
    site: str, value: object, met: dict[Rule, Rule]
) -> tuple[tuple[Entry, ...], dict[str, object]]:
    """The entries of *site* in the JSON *value*. *met*: the rules of all sites, so that equal rules are one object."""
    where = f"site {site!r}"
    block = Block(value, where)
    entries: dict[Rule, Entry] = {}
    for number, one in enumerate(block.items("rules"), start=1):
        entry = _parse_entry(site, Block(one, f"{where}, rule {number}"), met)
        if entry.rule in entries:
            raise Damaged(f"{where}, rule {number}: the same rule stands above; keep one of them")
        entries[entry.rule] = entry
    return tuple(entries.values()), block.rest()


def _parse_entry(site: str, block: Block, met: dict[Rule, Rule]) -> Entry:
    """The entry of a rule of *site* in *block*. *met*: all rules so far, so that equal rules are one object."""
    given_id = block.maybe_text("id")
    rule = rule_of(block)
    rule = met.setdefault(rule, rule)
    status = block.choice("status", tuple(Status))
    reason, comment = block.maybe_text("reason"), block.maybe_text("comment")
    inner = Block(block.take("evidence", {}), f"{block.where}, 'evidence'")
    try:
        evidence = _parse_evidence(inner)
        entry = Entry(rule, Status(status), evidence, reason, comment, block.rest(), inner.rest())
    except Damaged:
        raise
    except ValueError as error:
        raise Damaged(f"{block.where}: {error}") from None
    if given_id is not None and given_id != rule_id(site, rule):
        # An entry edited into another rule would carry evidence that is not the new rule's.
        raise Damaged(
            f"{block.where}: 'id' {given_id!r} is another rule's; this one's would be {rule_id(site, rule)!r},"
            " and its evidence its own"
        )
    return entry


def _parse_evidence(block: Block) -> Evidence:
    return Evidence(
        **{name: block.count(name, 0) for name in COUNTS},
        loss_bound=block.maybe_number("loss_bound"),
        unseen_bound=block.maybe_number("unseen_bound"),
        shown=_parse_reach(block),
        examples=_parse_examples(block),
        first_validated=block.maybe_text("first_validated"),
        last_validated=block.maybe_text("last_validated"),
        logs=tuple(block.strings("logs", block.items("logs", []))),
    )


def _parse_reach(block: Block) -> tuple[tuple[str, int], ...]:
    """The aspects of URLs for which the rule was seen to hold, each with its number of contents."""
    shown = Block(block.take("shown", {}), f"{block.where}, 'shown'")
    return tuple((aspect, shown.count(aspect)) for aspect in sorted(shown.rest()))


def _parse_examples(block: Block) -> Examples:
    pairs: list[tuple[str, str]] = []
    for pair in block.items("examples", []):
        if not isinstance(pair, list) or len(pair) != 2:
            block.refuse("examples", "a list of pairs of URLs", pair)
        a, b = block.strings("examples", pair)
        pairs.append((a, b))
    return tuple(pairs)
