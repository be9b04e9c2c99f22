"""Makes the sentence at the end of a crawl: the requests that rules saved, the tests of the rules, and where to see more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scrapy_dust.crawl.rules import CrawlRules
from scrapy_dust.journal.journal_places import journal_dir
from scrapy_dust.settings import DustSettings
from scrapy_dust.stats import Stat

#: The most rules that the sentence names.
RULES_NAMED = 3


def summary(rules: CrawlRules, spider: str, stats: Mapping[str, Any]) -> str:
    """The sentence about one crawl: what rules saved, how rules under test stand, where suppressed requests are listed."""
    has_rules = bool(rules.sites or rules.learned)
    if not has_rules:
        parts = iter([_no_rules_sentence(stats, rules.settings).rstrip(".")])
    else:
        parts = _shadow_clauses(rules, stats) if rules.shadowed else _saved_clauses(rules, stats)
    said = "; ".join([*parts, *_probation_clauses(stats), *_handed_on_clauses(stats)])
    filtered = stats.get(Stat.FILTERED, 0) or stats.get(Stat.RETURNED, 0)
    if rules.shadowed or not filtered or not has_rules:
        return f"{said}."
    if not rules.settings.journal:
        return f"{said}. `scrapy dustrules explain URL` says why a URL was not fetched."
    where = journal_dir(rules.settings.dir, spider)
    return f"{said}. What was not fetched is listed in {where}; `scrapy dustrules explain URL` says why."


def _saved_clauses(rules: CrawlRules, stats: Mapping[str, Any]) -> Iterator[str]:
    """Clauses about requests that the rules in force saved, tested or gave back."""
    saved = stats.get(Stat.FILTERED, 0) - stats.get(Stat.HEIRS, 0)
    count = rules.count + stats.get(Stat.LEARNED, 0) + stats.get(Stat.PROVED, 0)
    said = f"{_count_of(count, 'rule')} saved {_count_of(max(saved, 0), 'request')}"
    yield said + _rules_that_save_most(stats, f"{Stat.FILTERED}/")
    if tested := stats.get(Stat.CANARIES, 0):
        different = stats.get(f"{Stat.CANARIES}/different", 0)
        wrong = f" ({different} of them showed another page)" if different else ""
        yield f"{_count_of(tested, 'URL')} let through to test the rules{wrong}"
    if kept := stats.get(Stat.KEPT_ALIVE, 0):
        yield f"{_count_of(kept, 'page')} fetched under another URL, since the first one failed"
    if stats.get(Stat.SUSPENDED, 0):
        returned = _count_of(stats.get(Stat.RETURNED, 0), "URL")
        yield f"{_count_of(stats[Stat.SUSPENDED], 'rule')} suspended as no longer true, {returned} offered again"


def _probation_clauses(stats: Mapping[str, Any]) -> Iterator[str]:
    proved, left, refuted = (stats.get(stat, 0) for stat in (Stat.PROVED, Stat.ON_PROBATION, Stat.REFUTED))
    if proved or left or refuted:
        yield f"rules on probation: {proved} proved in this crawl, {refuted} refuted, {left} still open"


def _handed_on_clauses(stats: Mapping[str, Any]) -> Iterator[str]:
    """A clause if items have values from ``meta`` by which requests are not told apart."""
    prefix = f"{Stat.HANDED_ON}/"
    names = sorted(name.removeprefix(prefix) for name in stats if name.startswith(prefix))
    if names:
        named = ", ".join(f'"{name}"' for name in names[:RULES_NAMED])
        yield f"items have what requests handed on, by which rules tell no requests apart: DUST_CLASS_BY with {named} does"


def _shadow_clauses(rules: CrawlRules, stats: Mapping[str, Any]) -> Iterator[str]:
    filtered, size = stats.get(Stat.SHADOW_FILTERED, 0), stats.get(Stat.SHADOW_BYTES, 0)
    said = f"{_count_of(rules.count, 'rule')} would have saved {_count_of(filtered, 'request')}"
    yield f"{said} and {size / 1e6:.1f} MB{_rules_that_save_most(stats, f'{Stat.SHADOW_FILTERED}/')}"
    same, different = stats.get(Stat.SHADOW_SAME, 0), stats.get(Stat.SHADOW_DIFFERENT, 0)
    unclear = stats.get(Stat.SHADOW_OPEN, 0) + stats.get(Stat.SHADOW_UNKNOWN, 0)
    yield (
        f"of {same + different + unclear} that were compared, {same} show the page that would have been fetched, and "
        f"{different} another one that would have been lost"
        + (f"; {unclear} read differently, and may be the same or another page" if unclear else "")
    )


def _no_rules_sentence(stats: Mapping[str, Any], settings: DustSettings) -> str:
    answers = _count_of(stats.get(Stat.RECORDED, 0), "answer")
    if settings.mode == "off":
        return f"Rules are off (DUST_MODE); recorded {answers}."
    if settings.learn != "off" and settings.log_enabled:
        return f"Recorded {answers}; rules are learned from the log now."
    where = f" in {', '.join(settings.rules)}" if settings.rules else ""
    return f"No rules yet{where}; recorded {answers}. `scrapy dustmine` makes rules of them."


def _count_of(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _rules_that_save_most(stats: Mapping[str, Any], prefix: str) -> str:
    """The ids of the rules that save most, in brackets; empty if no rule has saved a request."""
    of_rules = ((name.removeprefix(prefix), n) for name, n in stats.items() if name.startswith(prefix))
    # Fewer than none: what was filtered before a pause was given back after it.
    counts = {identity: count for identity, count in of_rules if count > 0}
    most = sorted(counts, key=lambda identity: (-counts[identity], identity))
    # Without numbers: several rules may change one URL, so that the parts add up to more than the whole.
    by = "most of them by" if len(most) > RULES_NAMED else "by"
    return f" ({by} {', '.join(most[:RULES_NAMED])})" if most else ""
