"""A look at all that has been seen of a site so far: which rules hold, by the usual trials and admission.

Edits are learned and tried on the pages seen (`believe/campaign.py`); nothing is fetched. A look at a few thousand pages
takes some seconds, so a process beside the crawl does it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from scrapy_dust.believe.candidates import candidates_of
from scrapy_dust.believe.decisions import Decision
from scrapy_dust.believe.evidence import LogEvidence
from scrapy_dust.believe.reach import Shown, reach_by_rule
from scrapy_dust.believe.validation import Verdict
from scrapy_dust.engines.local import evidence_of, likely_parameters, mine_log, tried_by_log
from scrapy_dust.online.extent import ANY_VALUE, limited_to_seen
from scrapy_dust.propose.edits.classes import classes_of
from scrapy_dust.propose.edits.edit_detection import as_rule
from scrapy_dust.propose.edits.edit_proposals import Proposer, declared_edits
from scrapy_dust.propose.edits.pooling import NOTHING_POOLED, Pool
from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.rules.rule import Rule
from scrapy_dust.settings import DustSettings
from scrapy_dust.sites import site_of
from scrapy_dust.visits.outcomes import Outcome
from scrapy_dust.visits.pages import SiteLog, texts_of, with_redirects

#: Edits that are weighed beside those that the learner admits, those first that most contents suggest; an edit is probable that
#: holds so many times oftener than it fails.
_WEIGHED, _OFTENER = 64, 10
#: Redirects of one form, without any exception, that make a rule likely.
LED = 3


@dataclass(frozen=True, slots=True)
class Looked:
    """The result of a look at a site."""

    decisions: Sequence[Decision]
    led: Sequence[Rule] = ()  #: that redirects of the site declare
    rules: Sequence[Rule] = ()  #: that may come into force, as far as they reach
    #: How far, by what rules do, each was seen to hold.
    held: Mapping[str, Shown] = field(default_factory=dict)
    probable: Sequence[Rule] = ()  #: that hold far oftener than they fail, as far as was seen

    @property
    def likely(self) -> tuple[Rule, ...]:
        """The rules without counterevidence, and with too little evidence."""
        false = {one.rule for one in self.decisions if one.verdict is Verdict.REFUTED}
        decided = (one.rule for one in self.decisions if not one.tally.contradictions)
        rules = (*(rule for rule in (*decided, *self.led) if rule not in false), *self.probable)
        return tuple(rule for rule in rules if rule not in self.rules)


def led_by_redirects(log: SiteLog) -> list[Rule]:
    """The rules that several redirects of *log* declare, and that change no URL which has shown a page of its own.

    Where rules suppress the URLs that redirects lead to, nothing else tells of these redirects.
    """
    found = []
    for rule in dict.fromkeys(as_rule(one.edit) for one in declared_edits(log.redirects)):
        followed = sum(rule.apply(url) == target for url, target in log.redirects.items())
        if followed >= LED and not any(rule.apply(page.url) != page.url for page in log.pages):
            found.append(rule)
    return found


def probable(log: SiteLog, rules: Sequence[Rule] = ()) -> list[Rule]:
    """Edits that several contents suggest beside *rules*, and that hold far oftener than they fail, most contents first."""
    classes = classes_of(texts_of(log), rules)
    suggested = sorted(
        Proposer(len(classes) + 1).proposals(classes.known_twice()), key=lambda one: -(one.contents or 2)
    )
    effects = [(one.edit, classes.effect(one.edit)) for one in suggested[:_WEIGHED]]
    held = [(edit, seen.contents) for edit, seen in effects if 1 < seen.contents >= _OFTENER * len(seen.bad)]
    return [as_rule(edit) for edit, _ in sorted(held, key=lambda one: (-one[1], one[0].order))]


def _is_valid(decision: Decision, refuted: Sequence[Rule]) -> bool:
    """Whether the rule of *decision* may come into force. A refuted rule under another guard needs as much evidence
    as one for any value: among many guards, one always leaves the counterevidence out.
    """
    if decision.verdict is not Verdict.VALID or decision.rule in refuted:
        return False
    again = any(one.unguarded == decision.rule.unguarded for one in refuted)
    return not again or decision.tally.contents >= ANY_VALUE


def look(
    site: str,
    log: SiteLog,
    settings: DustSettings,
    *,
    pool: Pool = NOTHING_POOLED,
    refuted: Sequence[Rule] = (),
) -> Looked:
    """Find the rules that hold by *log*. *refuted*: rules that this crawl has found to be false.

    The papers' first two phases are left out: they would be too slow for repeated looks.
    """
    mined = mine_log(
        site, log, replace(settings, learner="dust"), redirects_count=True, pool=pool.without(site)
    )
    # Where pages change at each fetch, their words may be equal though no two pages are.
    changes = any(page.volatile for page in log.pages)
    parameters = likely_parameters(with_redirects(log), settings) if changes else []
    # A part of a site is all that was seen: that shows less than what the learner makes of a whole log.
    candidates = [
        replace(one, enough=settings.min_support) for one in candidates_of((), parameters, (), mined.edits)
    ]
    led = led_by_redirects(log)
    if not candidates:
        return Looked((), led, probable=probable(log))
    evidence = evidence_of(site, log, settings)
    risk = settings.max_risk
    decisions = tried_by_log(site, candidates, evidence, settings, max_risk=risk, settled=refuted)
    held = [one.rule for one in decisions if _is_valid(one, refuted)]
    canonizer = Canonizer({site: held}, site_of, settings.passes)
    contents = _contents(log, evidence, canonizer)
    reached = limited_to_seen(held, contents, canonizer)
    held_in = reach_by_rule(contents, Canonizer({site: reached}, site_of, settings.passes)) if reached else {}
    return Looked(decisions, led, reached, held_in, probable(log, reached))


def _contents(log: SiteLog, evidence: LogEvidence, canonizer: Canonizer) -> dict[str, str]:
    """The content of each URL of *log*. A page that changes has the content of its class's first page if nothing else differs."""
    found, firsts = dict[str, str](), dict[str, str]()
    for page in with_redirects(log):
        shown = page.exact
        if shown and page.volatile:
            first = firsts.setdefault(canonizer.canonize(page.url), page.url)
            is_same = first == page.url or evidence.pair(page.url, first).known is Outcome.SAME
            shown = first if is_same else None
        if shown:
            found[page.url] = shown
    return found
