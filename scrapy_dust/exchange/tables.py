"""CSV, for spreadsheets: a rule a line, with what a reviewer wants to sort by."""

from __future__ import annotations

import csv
import io

from scrapy_dust.dust.rules import ParameterRule, Rule, SubstringRule
from scrapy_dust.exchange.travelling import Collected, Entries, Exported, Imported, Unsaid, each_rule
from scrapy_dust.rule_book.blocks import Damaged
from scrapy_dust.rule_book.entries import rule_id

_RULE = ("site", "kind", "name", "value", "alpha", "beta", "start", "end")
_KNOWN = ("id", "status", "same", "different", "merges", "loss_bound", "validated", "comment")


def export(entries: Entries) -> Exported:
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow((*_RULE, *_KNOWN))
    unsaid: list[Unsaid] = []
    for site, entry in each_rule(entries):
        cells = _cells(entry.rule)
        if cells is None:
            unsaid.append(Unsaid(f"{site}: {entry.rule}", "it is an edit, which has no columns"))
            continue
        known = entry.evidence
        counts = (known.positive, known.contradictions, known.merges, known.loss_bound, known.last_validated)
        table.writerow((site, *cells, rule_id(site, entry.rule), str(entry.status), *counts, entry.comment))
    return Exported(text.getvalue(), tuple(unsaid))


def _cells(rule: Rule) -> tuple[str, ...] | None:
    if isinstance(rule, ParameterRule):
        # An empty value is a value: what leaves a parameter out has a kind of its own.
        kind = "leave out" if rule.value is None else "one value"
        return kind, rule.name, rule.value or "", "", "", "", ""
    return _replace_cells(rule) if isinstance(rule, SubstringRule) else None


def _replace_cells(rule: SubstringRule) -> tuple[str, ...]:
    return "replace", "", "", rule.alpha, rule.beta, "^" * rule.start, "$" * rule.end


def read(text: str, sites: tuple[str, ...]) -> Imported:
    """Raises `Damaged` where there are no such columns. A row without a site is meant for all of *sites*."""
    rows = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    collected = Collected(sites)
    try:
        if "kind" not in (rows.fieldnames or ()):
            raise Damaged("the first line must name the columns, 'kind' among them")
        for row in rows:
            _take(collected, {key: value or "" for key, value in row.items() if key}, rows.line_num)
    except csv.Error as error:
        raise Damaged(f"line {rows.line_num} is no CSV ({error})") from None
    return collected.imported()


def _take(collected: Collected, row: dict[str, str], line: int) -> None:
    what = f"line {line}"
    rule: Rule
    match row["kind"]:
        case "leave out":
            rule = ParameterRule(row.get("name", ""))
        case "one value":
            rule = ParameterRule(row.get("name", ""), row.get("value", ""))
        case "replace":
            start, end = row.get("start", ""), row.get("end", "")
            if start not in ("", "^") or end not in ("", "$"):
                collected.leave(what, "'start' must be ^ or empty, and 'end' $ or empty")
                return
            rule = SubstringRule(row.get("alpha", ""), row.get("beta", ""), start == "^", end == "$")
        case other:
            collected.leave(what, f"there is no kind {other!r}")
            return
    if row.get("site"):
        collected.take(row["site"], rule, what)
    else:
        collected.take_everywhere([rule], what)
