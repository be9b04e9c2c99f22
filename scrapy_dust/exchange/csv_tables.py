"""Writes and reads rules as CSV, for spreadsheets: a rule a line, with what a reviewer wants to sort by."""

from __future__ import annotations

import csv
import io

from scrapy_dust.exchange.transfer import Collected, Entries, Exported, Imported, Unsaid, each_rule
from scrapy_dust.rule_book.entries import rule_id
from scrapy_dust.rules.parameters import DropParameter, SetParameter
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.strict_json import Damaged
from scrapy_dust.rules.substitution import Substitute

_RULE = ("site", "kind", "name", "value", "alpha", "beta", "start", "end")
_KNOWN = ("id", "status", "same", "different", "merges", "loss_bound", "validated", "comment")


def export(entries: Entries) -> Exported:
    """A CSV table of the rules with their evidence."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow((*_RULE, *_KNOWN))
    unsaid: list[Unsaid] = []
    for site, entry in each_rule(entries):
        cells = _cells(entry.rule)
        if cells is None:
            unsaid.append(Unsaid(f"{site}: {entry.rule}", "this table has no columns for such a rule"))
            continue
        known = entry.evidence
        counts = (known.positive, known.contradictions, known.merges, known.loss_bound, known.last_validated)
        table.writerow((site, *cells, rule_id(site, entry.rule), str(entry.status), *counts, entry.comment))
    return Exported(text.getvalue(), tuple(unsaid))


def _cells(rule: Rule) -> tuple[str, ...] | None:
    """The cells that describe *rule*; None for a rule that the columns cannot describe."""
    if rule.dropped_parameter is not None:
        return "leave out", rule.dropped_parameter, "", "", "", "", ""
    if rule.fixed_value_operation is not None:
        return "one value", rule.fixed_value_operation.name, rule.fixed_value_operation.value, "", "", "", ""
    text = rule.substitution
    if text is None:
        return None
    return "replace", "", "", text.alpha, text.beta, "^" * text.start, "$" * text.end


def read(text: str, sites: tuple[str, ...]) -> Imported:
    """The rules in a CSV table; a row without a site is for all *sites*. Raises `Damaged` where columns are missing."""
    rows = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    collected = Collected(sites)
    try:
        if "kind" not in (rows.fieldnames or ()):
            raise Damaged("the first line must name the columns, 'kind' among them")
        for row in rows:
            _collect_row(collected, {key: value or "" for key, value in row.items() if key}, rows.line_num)
    except csv.Error as error:
        raise Damaged(f"line {rows.line_num} is no CSV ({error})") from None
    return collected.imported()


def _collect_row(collected: Collected, row: dict[str, str], line: int) -> None:
    """Collect the rule in a *row* of the table, which stands on this *line*."""
    what = f"line {line}"
    rule: Rule
    match row["kind"]:
        case "leave out":
            rule = Rule.of(DropParameter(row.get("name", "")))
        case "one value":
            rule = Rule.of(SetParameter(row.get("name", ""), row.get("value", "")))
        case "replace":
            start, end = row.get("start", ""), row.get("end", "")
            if start not in ("", "^") or end not in ("", "$"):
                collected.leave(what, "'start' must be ^ or empty, and 'end' $ or empty")
                return
            rule = Rule.of(Substitute(row.get("alpha", ""), row.get("beta", ""), start == "^", end == "$"))
        case other:
            collected.leave(what, f"there is no kind {other!r}")
            return
    if row.get("site"):
        collected.take(row["site"], rule, what)
    else:
        collected.take_everywhere([rule], what)
