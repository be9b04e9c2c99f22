"""The parts of the page that need no script, as HTML. Text that a site wrote is escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from scrapy_dust.learners.leftovers import Left
from scrapy_dust.report.gathering import Report
from scrapy_dust.report.pieces import (
    HEADINGS,
    bar,
    before_and_after,
    duration_in_words,
    facts_listed,
    number,
    percent,
    size_in_words,
    table,
)
from scrapy_dust.report.rules_shown import RuleShown
from scrapy_dust.rule_book import rule_id
from scrapy_dust.rules.grouping import grouped_rules, name_of
from scrapy_dust.rules.rule import Rule

_SITES_SHOWN = 200
#: The number of rules that one list shows; the table of rules has all of them.
_LISTED = 6
#: The number of names under one heading.
_NAMES = 24

_CAUSES = {
    Left.IMAGE: "one picture under several names",
    Left.ERROR: "one error page in answer to whatever is asked for; such an answer is never merged",
    Left.RULE: "a rule would explain them, which is on probation, refuted, or seen too rarely",
    Left.COPY: "a copy with the original's name in another directory",
    Left.OTHER: "no rule that a log can show",
}


def hero(report: Report) -> str:
    """The share of requests that the rules save as one large figure, with a bar before and a bar after."""
    savings = report.savings.values()
    urls, saved = sum(one.urls for one in savings), sum(one.saved for one in savings)
    after = urls - saved
    return (
        f'<p class="figure"><strong>{percent(saved, urls)}</strong> <span>of the requests of this log are saved</span></p>'
        f"{before_and_after(urls, after)}{facts_listed(_facts(report, saved))}"
    )


def _facts(report: Report, saved: int) -> list[str]:
    """The facts below the large figure, a sentence each."""
    savings = report.savings.values()
    size, bytes_saved = sum(one.bytes for one in savings), sum(one.bytes_saved for one in savings)
    in_force = sum(len(rules) for rules in report.in_force.values())
    left = sum(one.urls for one in report.remaining.values())
    return [
        f"{number(in_force, 'rule')} in force on {number(len(report.savings), 'site')}",
        _loss_in_words(report.lost_at_most),
        f"{size_in_words(bytes_saved)} of {size_in_words(size)} saved, and {duration_in_words(saved)} at one fetch a second",
        f"{number(left, 'copy', 'copies')} left that no rule explains",
    ]


def _loss_in_words(pages: int | None) -> str:
    """The sentence that says how many *pages* of the log the rules may hide; None: nobody can say."""
    if pages is None:
        return "no bound of what is hidden wrongly: the papers' test gives none"
    most = f"at most {number(pages, 'page')}" if pages else "no page"
    return f"{most} of this log hidden wrongly (95 %)"


def in_force(report: Report) -> str:
    """The rules in force in words: the names under each heading, which lead to their rules in the table."""
    if not any(report.in_force.values()):
        return "<p>No rule is in force yet.</p>"
    by_rule: dict[Rule, list[str]] = {}
    for site, rules in report.in_force.items():
        for rule in rules:
            by_rule.setdefault(rule, []).append(site)
    saves = {(rule.site, rule.id): rule.saves for rule in report.rules}
    worth = {
        rule: sum(saves.get((site, rule_id(site, rule)), 0) for site in sites)
        for rule, sites in by_rule.items()
    }
    return (
        "<p>URLs that differ only in these are one page now. Beside each name: the requests that it has a part in saving. "
        "<code>^</code> is the beginning of a URL, <code>$</code> its end, <code>*</code> any value.</p>"
        + "".join(
            f"<h3>{HEADINGS[kind]}</h3>{_rule_chips(sorted(of_kind, key=lambda rule: -worth[rule]), by_rule, worth)}"
            for kind, of_kind in grouped_rules(by_rule).items()
        )
    )


def _rule_chips(rules: Sequence[Rule], sites: dict[Rule, list[str]], worth: dict[Rule, int]) -> str:
    """The names of *rules* as a list of buttons, which show the rules in the table. *worth*: the requests that each saves."""
    items = "".join(
        f'<li><button type="button" class="chip" data-filter="{escape(_filter_text(rule, sites[rule]), quote=True)}">'
        f"<code>{escape(name_of(rule))}</code> "
        f'<span class="muted">{worth[rule]:,}{_sites_in_words(sites[rule])}</span></button></li>'
        for rule in rules[:_NAMES]
    )
    more = f"<li>and {len(rules) - _NAMES:,} more</li>" if len(rules) > _NAMES else ""
    return f'<ul class="chips">{items}{more}</ul>'


def _filter_text(rule: Rule, sites: Sequence[str]) -> str:
    """The text by which the table of rules finds *rule*."""
    return rule_id(sites[0], rule) if len(sites) == 1 else str(rule)


def _sites_in_words(sites: Sequence[str]) -> str:
    """The words " on 3 sites", if there are several."""
    return f" on {len(sites)} sites" if len(sites) > 1 else ""


def on_probation(report: Report) -> str:
    """The rules that suppress nothing yet, each with the reason and a pair of URLs."""
    waiting = [
        (place, one) for place, one in enumerate(report.rules) if one.status in ("probation", "suspended")
    ]
    if not waiting:
        return "<p>No rule is on probation.</p>"
    intro = "<p>These rules look right and suppress nothing. The next crawl fetches what they would suppress, and learns from it.</p>"
    return intro + _rule_cards((place, one, one.waits) for place, one in waiting)


def refuted(report: Report) -> str:
    """The rules that would merge different pages, each with the place where the pages differ."""
    found = [(place, one) for place, one in enumerate(report.rules) if one.status == "refuted"]
    found.sort(key=lambda item: (not item[1].reason, not item[1].examples))
    if not found:
        return "<p>No rule was refuted.</p>"
    return _rule_cards((place, one, _reason_refuted(one)) for place, one in found)


def _reason_refuted(one: RuleShown) -> str:
    return f"The {one.reason}." if one.reason else "It would merge pages that differ."


def _rule_cards(found: Iterable[tuple[int, RuleShown, str]]) -> str:
    """The rules *found* as a list of cards. Each comes with its place on the page and with the reason for its status."""
    listed = list(found)
    items = "".join(
        f'<li class="card"><p class="rule-text"><code>{escape(one.text)}</code></p><p class="muted">{escape(one.site)}</p>'
        f'<p>{escape(why)}</p><div data-example="{place}"></div></li>'
        for place, one, why in listed[:_LISTED]
    )
    rest = len(listed) - _LISTED
    more = f"<p>And {rest:,} more, in the table of rules.</p>" if rest > 0 else ""
    return f'<ul class="cards">{items}</ul>{more}'


def steps(report: Report) -> str:
    """The number of rules after each step of a run, with bars."""
    found = report.funnel
    named = [
        ("by the URLs (phase 1)", found.likely),
        ("not redundant (phase 2)", found.kept),
        ("by parameters (phase 3)", found.parameters),
        ("by equal pages", found.edits),
        ("tested", found.tried),
        ("valid", found.valid),
        ("refuted", found.refuted),
        ("undecided", found.undecided),
        ("like other rules", found.redundant),
    ]
    most = max(1, *(count for _, count in named))
    return (
        '<div class="meters">'
        + "".join(
            f'<div class="meter"><span>{name}</span>{bar(count, most)}<span class="number">{count:,}</span></div>'
            for name, count in named
        )
        + f"</div><p>Found in {number(found.urls, 'URL')}, with {number(found.fetches, 'fetch', 'fetches')} to validate.</p>"
    )


def sites(report: Report) -> str:
    """A table with a row for each site, the site that saves most first."""
    if not report.savings:
        return "<p>The log has no pages.</p>"
    ordered = sorted(report.savings.items(), key=lambda item: (-item[1].saved, item[0]))
    heads = ("Site", "Pages", "Requests saved", "Bytes saved", "Rules in force", "Copies left")
    rows = [
        (
            f'<button type="button" class="link" data-filter="{escape(site, quote=True)}">{escape(site)}</button>',
            f"{one.urls:,}",
            f"{one.saved:,} ({percent(one.saved, one.urls)})",
            size_in_words(one.bytes_saved),
            f"{len(report.in_force.get(site, ())):,}",
            f"{report.remaining[site].urls:,}",
        )
        for site, one in ordered[:_SITES_SHOWN]
    ]
    more = f"<p>And {len(ordered) - _SITES_SHOWN:,} more.</p>" if len(ordered) > _SITES_SHOWN else ""
    return table("Sites", heads, rows) + more


def remaining(report: Report) -> str:
    """The copies that rules do not explain, counted by cause, with some pairs of URLs as examples."""
    found = report.remaining.values()
    total = sum(one.urls for one in found)
    if not total:
        return "<p>No two URLs with the same text have different keys, as far as the log has texts.</p>"
    counts = {cause: sum(one.why[cause] for one in found) for cause in Left}
    looked_at = sum(one.looked_at for one in found)
    rows = [
        (str(cause), _CAUSES[cause], f"{count:,}")
        for cause, count in sorted(counts.items(), key=lambda item: -item[1])
        if count
    ]
    pairs = "".join(f'<div data-pair="{place}"></div>' for place in range(len(report.left)))
    return (
        f"<p>{number(total, 'URL')} show a text that another URL showed first, and are fetched all the same. "
        f"The causes of {number(looked_at, 'URL')} of such texts were looked at:</p>"
        + table("Causes", ("Cause", "What it means", "URLs"), rows, words=2)
        + (f"<h3>For example</h3>{pairs}" if pairs else "")
    )


def past(report: Report) -> str:
    """A table of earlier crawls, as their journals tell."""
    if not report.past:
        return "<p>No journal of a crawl with rules is on this machine.</p>"
    heads = ("Day", "Spider", "Requests saved", "Given back", "Fetched to test rules")
    rows = [
        (
            escape(one.day),
            escape(one.spider),
            f"{one.suppressed - one.returned:,}",
            f"{one.returned:,}",
            f"{one.tested:,}",
        )
        for one in report.past
    ]
    return table("Past crawls", heads, rows, words=2)
