"""The page: a template, its style and its two scripts, and the data, in one file that loads nothing.

Whatever a site wrote is escaped on its way in, and put on the screen as text; and the page's policy lets no script
run but its own two, which it names by their hashes.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterable
from dataclasses import asdict
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Any

from scrapy_dust.dust.edits.edit import Edit
from scrapy_dust.dust.rules import Rule, SubstringRule
from scrapy_dust.report import drawing
from scrapy_dust.report.gathering import Report
from scrapy_dust.rule_book import rule_id
from scrapy_dust.rule_book.document import rule_json
from scrapy_dust.sites import site_of_host

_SITES_SHOWN = 200


def html_of(report: Report, title: str) -> bytes:
    """*title* is what the page is called, such as the names of the logs."""
    style, script = _asset("page.css"), _asset("keys.js") + "\n" + _asset("page.js")
    parts = {
        "policy": _policy(style, script),
        "title": escape(f"{title} – scrapy-dust"),
        "style": style,
        "script": script,
        "heading": escape(title),
        "subtitle": escape(_subtitle(report)),
        "tiles": _tiles(report),
        "funnel": drawing.funnel(report.funnel),
        "precision": drawing.precision(report.precision),
        "precision_caption": "Of the k rules with most support that were decided, how many are valid.",
        "sites": _sites(report),
        "left": _left(report),
        "past": _past(report),
        "footer": escape(_FOOTER),
        "data": _data(report),
    }
    # In one pass: what stands in a part is never taken for a place of another.
    page = re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], _asset("page.html"))
    return page.encode("utf-8", "xmlcharrefreplace")


_FOOTER = (
    "Bounds hold with a probability of 95 %, for URLs like those of the log. What is saved is counted on this log: a"
    " crawl that follows the links of fewer pages may save more or less; time is at one fetch a second. Texts are compared without what all pages of"
    " a site have in common."
)


def _asset(name: str) -> str:
    return files("scrapy_dust.report").joinpath(name).read_text("utf-8")


def _policy(style: str, script: str) -> str:
    def hashed(text: str) -> str:
        return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"

    return (
        f"default-src 'none'; script-src {hashed(script)}; style-src {hashed(style)};"
        " base-uri 'none'; form-action 'none'"
    )


def _subtitle(report: Report) -> str:
    logs = ", ".join(report.logs[:5]) + (f" and {len(report.logs) - 5} more" if len(report.logs) > 5 else "")
    return f"{report.day}; {logs or 'no log'}; {report.funnel.fetches:,} fetches to validate"


def _tiles(report: Report) -> str:
    savings = report.savings.values()
    urls, saved = sum(one.urls for one in savings), sum(one.saved for one in savings)
    size = sum(one.bytes_saved for one in savings)
    tiles = [
        (f"{saved:,}", f"of {urls:,} fetches of this log ({_share(saved, urls)})"),
        (_bytes(size), f"of {_bytes(sum(one.bytes for one in savings))}"),
        (_duration(saved), "at one fetch a second"),
        (
            f"{sum(len(rules) for rules in report.in_force.values()):,}",
            f"rules in force ({_number(len(report.savings), 'site')})",
        ),
        (f"{report.lost_at_most:,}", "pages of this log lost at most (95 %)"),
        (f"{sum(one.urls for one in report.remaining.values()):,}", "copies that no rule explains"),
    ]
    return "".join(
        f'<div class="tile"><strong>{escape(value)}</strong><span>{escape(what)}</span></div>'
        for value, what in tiles
    )


def _sites(report: Report) -> str:
    if not report.savings:
        return "<p>The log has no pages.</p>"
    ordered = sorted(report.savings.items(), key=lambda item: (-item[1].saved, item[0]))
    rows = "".join(
        f'<tr><td><button type="button" class="rule" data-site="{escape(site, quote=True)}">{escape(site)}</button></td>'
        f'<td class="number">{one.urls:,}</td><td class="number">{one.saved:,} ({_share(one.saved, one.urls)})</td>'
        f'<td class="number">{_bytes(one.bytes_saved)}</td><td class="number">{_duration(one.saved)}</td>'
        f'<td class="number">{len(report.in_force.get(site, ())):,}</td>'
        f'<td class="number">{report.remaining[site].urls:,}</td></tr>'
        for site, one in ordered[:_SITES_SHOWN]
    )
    more = f"<p>And {len(ordered) - _SITES_SHOWN:,} more.</p>" if len(ordered) > _SITES_SHOWN else ""
    heads = "".join(
        f'<th scope="col"{" class=number" if number else ""}>{name}</th>'
        for number, name in enumerate(
            ("Site", "Pages", "Saved", "Bytes saved", "Time saved", "Rules", "Copies left")
        )
    )
    return _table("Table of sites", heads, rows) + more


def _table(name: str, heads: str, rows: str) -> str:
    # Where it is wider than the screen it scrolls, by the keyboard too.
    return (
        f'<div class="wide" role="region" aria-label="{name}" tabindex="0"><table><thead><tr>{heads}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _left(report: Report) -> str:
    found = report.remaining.values()
    total = sum(one.urls for one in found)
    if not total:
        return "<p>No two URLs with the same text have different keys, as far as the log has texts.</p>"
    why = {name: sum(one.why[name] for one in found) for one in found for name in one.why}
    kinds = ", ".join(
        f"{count:,} {escape(str(name))}" for name, count in sorted(why.items(), key=lambda item: -item[1])
    )
    looked_at = sum(one.looked_at for one in found)
    pairs = "".join(f'<div data-pair="{number}"></div>' for number in range(len(report.left)))
    return (
        f"<p>{total:,} URLs have the text of another one and a key of their own. Of {looked_at:,} that were looked at:"
        f" {kinds}. Soft errors are one answer to whatever is asked for; rules could be told by an edit that tells others"
        f" too; copies have their original’s name in another directory.</p>{pairs}"
    )


def _past(report: Report) -> str:
    if not report.past:
        return "<p>No journal of a crawl with rules is on this machine.</p>"
    most = max(one.suppressed for one in report.past) or 1
    rows = "".join(
        f"<tr><td>{escape(one.day)}</td><td>{escape(one.spider)}</td>"
        f'<td class="number">{one.suppressed - one.returned:,}</td>'
        f'<td><svg viewBox="0 0 120 12" width="120" height="12" aria-hidden="true"><rect class="bar" x="0" y="1" width="{max(0.0, 120 * (one.suppressed - one.returned) / most):.1f}" height="10" rx="2"></rect></svg></td>'
        f'<td class="number">{one.returned:,}</td><td class="number">{one.tested:,}</td></tr>'
        for one in report.past
    )
    heads = '<th scope="col">Day</th><th scope="col">Spider</th><th scope="col" class="number">Saved</th><td></td>'
    heads += (
        '<th scope="col" class="number">Given back</th><th scope="col" class="number">Fetched to test</th>'
    )
    return _table("Table of past crawls", heads, rows)


def _data(report: Report) -> str:
    data: dict[str, Any] = {
        "passes": report.passes,
        "rules": [asdict(rule) for rule in report.rules],
        "sites": {site: _extent(site) for site in report.savings},
        "force": _force(report),
        "left": [asdict(pair) for pair in report.left],
    }
    # In a script element < could end it; as an escape it is the same JSON.
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def _extent(site: str) -> dict[str, bool]:
    """What belongs to *site* beside its own name, as `sites.site_of` has it."""
    return {"below": site_of_host(f"x.{site}") == site, "ports": site_of_host(f"{site}:1") == site}


def _force(report: Report) -> dict[str, dict[str, list[Any]]]:
    """The rules in the order in which a `Canonizer` applies them, each with its place among those shown."""
    places = {(rule.site, rule.id): place for place, rule in enumerate(report.rules)}
    return {
        site: {
            "plain": [_numbered(places, site, rule) for rule in _plain_in_order(rules)],
            "edits": [
                _numbered(places, site, rule)
                for rule in sorted({r for r in rules if isinstance(r, Edit)}, key=lambda edit: edit.order)
            ],
        }
        for site, rules in report.in_force.items()
    }


def _plain_in_order(rules: Iterable[Rule]) -> list[Rule]:
    plain = [rule for rule in rules if not isinstance(rule, Edit)]
    return sorted(plain, key=lambda rule: isinstance(rule, SubstringRule))


def _numbered(places: dict[tuple[str, str], int], site: str, rule: Rule) -> list[Any]:
    return [places[site, rule_id(site, rule)], rule_json(rule)]


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + "s" * (count != 1)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "0 %"


def _bytes(size: int) -> str:
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size} bytes"


def _duration(seconds: int) -> str:
    if seconds < 120:
        return f"{seconds} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
