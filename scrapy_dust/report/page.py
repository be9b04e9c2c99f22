"""The report as one HTML file that loads nothing: a template, a style, a script, and the data.

Text that a site wrote is escaped before it enters the page, and the script shows it as text. The page's policy names
the hashes of its own script and style, and lets nothing else run.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from html import escape
from typing import Any

from scrapy_dust.report import sections
from scrapy_dust.report.gathering import Report
from scrapy_dust.report.pieces import asset, number, policy
from scrapy_dust.rule_book import rule_id
from scrapy_dust.rules.json_rules import rule_json
from scrapy_dust.rules.language import OPERATIONS
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.site_rules import in_order
from scrapy_dust.sites import site_of_host


def html_of(report: Report, title: str) -> bytes:
    """The report as the bytes of an HTML file. *title*: its heading, such as the name of the site."""
    style, script = asset("page.css"), keys_script() + "\n" + asset("page.js")
    parts = {
        "policy": policy(style, script),
        "title": escape(f"{title} – scrapy-dust"),
        "style": style,
        "script": script,
        "heading": escape(title),
        "subtitle": escape(_subtitle(report)),
        "hero": sections.hero(report),
        "in_force": sections.in_force(report),
        "try": _example_button(report),
        "probation": sections.on_probation(report),
        "refuted": sections.refuted(report),
        "steps": sections.steps(report),
        "sites": sections.sites(report),
        "left": sections.remaining(report),
        "past": sections.past(report),
        "footer": escape(_FOOTER),
        "data": _data_as_json(report),
    }
    # In one pass: what stands in a part is never taken for a place of another.
    page = re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], asset("page.html"))
    return page.encode("utf-8", "xmlcharrefreplace")


def _example_button(report: Report) -> str:
    """A button that explains an example: a URL that is changed by the rule which saves most."""
    in_force = [rule for rule in report.rules if rule.status == "valid" and rule.examples]
    if not in_force:
        return ""
    url = max(in_force, key=lambda rule: rule.saves).examples[0].urls[0]
    return (
        f'<p>For example: <button type="button" class="link" data-url="{escape(url, quote=True)}">'
        f"<code>{escape(url)}</code></button></p>"
    )


_FOOTER = (
    "Bounds hold with a probability of 95 %, for URLs like those of the log. Requests saved are counted on this log: another crawl"
    " may save more or fewer. Pages are compared without the parts that all pages of a site share."
)


def keys_script() -> str:
    """The script that computes keys of URLs, with the script of each operation."""
    scripts = ",\n    ".join(f"{json.dumps(name)}: {kind.script}" for name, kind in OPERATIONS.items())
    return asset("keys.js").replace("/* OPERATIONS */", scripts)


def _subtitle(report: Report) -> str:
    """The day, the logs and the fetches of the run in words."""
    logs = ", ".join(report.logs[:5]) + (f" and {len(report.logs) - 5} more" if len(report.logs) > 5 else "")
    return (
        f"{report.day}; {logs or 'no log'}; {number(report.funnel.fetches, 'fetch', 'fetches')} to validate"
    )


def _data_as_json(report: Report) -> str:
    """The values that the script of the page reads."""
    data: dict[str, Any] = {
        "passes": report.passes,
        "rules": [asdict(rule) for rule in report.rules],
        "sites": {site: _site_extent(site) for site in report.savings},
        "force": _rules_in_force(report),
        "left": [asdict(pair) for pair in report.left],
    }
    # In a script element < could end it; as an escape it is the same JSON.
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def _site_extent(site: str) -> dict[str, bool]:
    """Whether the script counts hosts below *site*, and other ports of it, as the same site, as `sites.site_of` does."""
    return {"below": site_of_host(f"x.{site}") == site, "ports": site_of_host(f"{site}:1") == site}


def _rules_in_force(report: Report) -> dict[str, list[list[Any]]]:
    """The rules in force by site, in the order of a `Canonizer`, each with its place among the rules on the page."""
    places = {(rule.site, rule.id): place for place, rule in enumerate(report.rules)}
    return {
        site: [_rule_with_place(places, site, rule) for rule in in_order(rules)]
        for site, rules in report.in_force.items()
    }


def _rule_with_place(places: dict[tuple[str, str], int], site: str, rule: Rule) -> list[Any]:
    """The place of *rule* among the rules on the page, and the rule as JSON."""
    return [places[site, rule_id(site, rule)], rule_json(rule)]
