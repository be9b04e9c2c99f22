"""Whether stated bounds on unseen pages hold: ``python -m benchmarks.calibration [DATA] [--rules 4000]``.

Replay, with DATA: of each URL list, the URLs of half the contents are mined and tried, where fetches answer what the list says;
the URLs of the other half, which had no part in it, say which share of a rule's merges is wrong. Of the rules in force, 95 % must
keep the bound that they state. Counted twice: of the unseen merges no larger a share was wrong; and no more were wrong than one
sample in twenty has by chance where the bound is true, since one of fifty says little about a share of one in a hundred.

Simulation: rules are laws, or accidents with a rate of their own; evidence comes from small lists and some parts of a site, and
the rule is used on all of it (covariate shift): where lists are long, or in the other parts, an accident fails more often.
"""

from __future__ import annotations

import argparse
import random
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from math import comb
from pathlib import Path

from benchmarks.campaign import conduct
from benchmarks.logs import EXACT, lists_in, load, name_of
from scrapy_dust.believe.campaign import Campaign
from scrapy_dust.believe.decisions import Decision
from scrapy_dust.believe.evidence import LogEvidence
from scrapy_dust.believe.unseen_loss import Witnesses, law_share, unseen_bound
from scrapy_dust.believe.validation import TrialParams, Verdict
from scrapy_dust.engines.local import mine_log
from scrapy_dust.page.site_log import site_log
from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.rules.rule import Rule
from scrapy_dust.settings import DustSettings
from scrapy_dust.sites import site_of
from scrapy_dust.visits.outcomes import Outcome
from scrapy_dust.visits.pages import Visit

#: Merges of unseen URLs from which on a share of wrong ones says something.
LEAST = 5
MOST_RISK = 0.02
_BY_CHANCE = 0.05


@dataclass(frozen=True, slots=True)
class Kept:
    """A rule that passed, its bound, and what it did to URLs that nobody had looked at."""

    where: str
    rule: Rule
    contents: int
    bound: float
    merges: int
    wrong: int
    in_force: bool

    @property
    def is_kept(self) -> bool:
        # One wrong merge of few says nothing about a share as small as that.
        return self.wrong <= max(self.bound * self.merges, 1 if self.merges < 1 / MOST_RISK else 0)

    @property
    def may_be_kept(self) -> bool:
        """Whether so many wrong merges are to be expected, one time in twenty and more often, if the bound is true."""
        fewer = sum(
            comb(self.merges, wrong) * self.bound**wrong * (1 - self.bound) ** (self.merges - wrong)
            for wrong in range(self.wrong)
        )
        return 1 - fewer >= _BY_CHANCE


def replayed(path: Path, salt: str) -> Iterator[Kept]:
    visits, truths = load(path)
    truth = truths[EXACT]
    for site, of_site in visits.items():
        if len(of_site) >= 200:
            seen = [visit for visit in of_site if _is_seen(truth.get(visit.url), salt)]
            known = {visit.url for visit in seen}
            unseen = [visit.url for visit in of_site if visit.url in truth and visit.url not in known]
            yield from _of_site(f"{name_of(path)} {site}", site, seen, unseen, truth)


def _is_seen(content: Hashable, salt: str) -> bool:
    return blake2b(f"{salt} {content}".encode(), digest_size=2).digest()[0] % 2 == 0


def _of_site(
    where: str, site: str, seen: Sequence[Visit], unseen: Sequence[str], truth: Mapping[str, Hashable]
) -> Iterator[Kept]:
    settings = DustSettings()
    mined = mine_log(site, site_log(seen), settings, redirects_count=True)
    urls = [page.url for page in mined.log.pages] + list(mined.log.redirects)
    known = frozenset(urls)
    random.Random(site).shuffle(urls)
    campaign = Campaign(
        mined.candidates(),
        LogEvidence(mined.log, urls, settings.sketch_matches),
        TrialParams(max_risk=MOST_RISK),
        site=site,
        site_of=site_of,
    )

    def answers(url: str, target: str) -> Outcome:
        if url not in known or target not in known:
            return Outcome.UNFETCHABLE
        return Outcome.SAME if truth.get(url) == truth.get(target) else Outcome.DIFFERENT

    conduct(campaign, answers, 1000)
    told = [one for one in campaign.decisions if one.verdict in (Verdict.VALID, Verdict.PROBATION)]
    for one in told:
        yield from _kept(where, site, one, told, unseen, truth)


def _kept(
    where: str,
    site: str,
    one: Decision,
    told: Sequence[Decision],
    unseen: Sequence[str],
    truth: Mapping[str, Hashable],
) -> Iterator[Kept]:
    """What *one* merges beyond what the others merge without it."""
    others = [other.rule for other in told if other.rule != one.rule]
    before = Canonizer({site: others}, site_of).canonize
    after = Canonizer({site: [other.rule for other in told]}, site_of).canonize
    classes: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for url in unseen:
        classes[after(url)][before(url)].append(url)
    merges = wrong = 0
    for parts in classes.values():
        first, *more = (members[0] for members in parts.values())
        merges += len(more)
        wrong += sum(truth[url] != truth[first] for url in more)
    if merges:
        seen = one.witnesses
        bound = unseen_bound(seen, law_share(one.rule.families))
        yield Kept(where, one.rule, seen.contents, bound, merges, wrong, one.verdict is Verdict.VALID)


def tables(kept: Sequence[Kept]) -> Iterator[str]:
    yield "| rules | number | with 5 merges and more | of these, keep their bound | or exceed it by chance | wrong merges, of all |"
    yield "|---|---:|---:|---:|---:|---:|"
    yield _row("in force", [one for one in kept if one.in_force])
    yield _row("on probation", [one for one in kept if not one.in_force])
    by_family: dict[str, list[Kept]] = defaultdict(list)
    for one in kept:
        by_family["+".join(one.rule.families)].append(one)
    for family, of_family in sorted(by_family.items(), key=lambda item: -len(item[1])):
        yield _row(f"{family}, in force", [one for one in of_family if one.in_force])
        yield _row(f"{family}, on probation", [one for one in of_family if not one.in_force])


def _row(name: str, of: Sequence[Kept]) -> str:
    many = [one for one in of if one.merges >= LEAST]
    share, by_chance = (
        f"{sum(kept) / len(many):.1%}" if many else ""
        for kept in ([one.is_kept for one in many], [one.is_kept or one.may_be_kept for one in many])
    )
    merges = sum(one.merges for one in of)
    return f"| {name} | {len(of)} | {len(many)} | {share} | {by_chance} | {sum(one.wrong for one in of)} of {merges} |"


def simulated(rules: int, seed: int) -> Iterator[str]:
    """Where a tenth to nine tenths of rules are laws, of those in force the share that keeps 2 %."""
    yield "| laws | believed | shift | in force | of these, at most 2 % wrong |"
    yield "|---:|---:|---:|---:|---:|"
    for laws in (0.1, 0.3, 0.6, 0.9):
        for shift in (1.0, 2.0):
            chance = random.Random(f"{seed} {laws} {shift}")
            believed = min(laws, 0.6)
            rates = [0.0 if chance.random() < laws else chance.random() for _ in range(rules)]
            in_force = [rate for rate in rates if _passes(rate, believed, chance)]
            kept = sum(min(1.0, rate * shift) <= MOST_RISK for rate in in_force)
            share = f"{kept / len(in_force):.1%}" if in_force else ""
            yield f"| {laws:.0%} | {believed:.0%} | {shift:g} | {len(in_force)} | {share} |"


def _passes(rate: float, believed: float, chance: random.Random) -> bool:
    contents = chance.choice((5, 10, 20, 40, 80))
    if any(chance.random() < rate for _ in range(contents)):
        return False
    return unseen_bound(Witnesses(contents, contents), believed) <= MOST_RISK


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.calibration", description=__doc__.splitlines()[0]
    )
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--rules", type=int, default=4000)
    parser.add_argument("--lists", default="", help="names; empty: all")
    parser.add_argument("--halves", type=int, default=2, help="ways to part the contents")
    parser.add_argument("--verbose", action="store_true", help="each rule that breaks its bound")
    options = parser.parse_args()
    for line in simulated(options.rules, 1):
        print(line)
    wanted = set(filter(None, options.lists.split(",")))
    kept: list[Kept] = []
    for path in lists_in(options.data) if options.data else ():
        if not wanted or name_of(path) in wanted:
            for half in range(options.halves):
                kept += replayed(path, str(half))
    for line in tables(kept) if kept else ():
        print(line)
    for one in _broken(kept) if options.verbose else ():
        print(one)


def _broken(kept: Iterable[Kept]) -> Iterator[str]:
    for one in kept:
        if one.in_force and not one.is_kept:
            yield f"{one.where}: {one.rule}: {one.contents} contents, ≤ {one.bound:.1%}; {one.wrong} of {one.merges} wrong"


if __name__ == "__main__":
    main()
