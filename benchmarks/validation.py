"""What validation proves and what it costs: ours beside the papers' N and ε, where the truth is known.

    python -m benchmarks.validation [DATA] [--output docs/validation.md] [--rules 10000] [--urls 12000]

Two worlds. In the first, rules are made up: so many pairs of URLs, of which so many are different pages. They
come in sites of twenty, whose rules are admitted together. In the second (DATA, with ``uci/pages.jsonl.gz``), the
rules are those that scrapy-dust finds in a real crawl, and fetches are answered from the file.

Each rule is tried by the papers' test (N = 100, ε = 5 %, figure 3 to the letter: 5 of 100 refute,
each pair is two fetches), by ours with a log that tells nothing but URLs, and by ours with a log that has the
contents of its pages, of which one in ten is unreliable.
"""

from __future__ import annotations

import argparse
import itertools
import math
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from benchmarks.curves import Curve, drawing
from benchmarks.replaying import replay
from scrapy_dust.believe.admission import (
    Bounds,
    Case,
    admitted,
    bounds_of,
    case_of,
    doubt_for,
    lost_together,
    next_to_prove,
)
from scrapy_dust.believe.paper_validation import LiteralParams, LiteralTrial
from scrapy_dust.believe.unseen_loss import Witnesses, unseen_bound
from scrapy_dust.believe.validation import Pair, Trial, TrialParams, Verdict
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from scrapy_dust.visits.outcomes import Outcome

RATES = (0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
SIZES = (30, 100, 300, 1000)
A_SITE = 20
MAX_LOSS = 0.001
#: Of the pages of a log with contents, those of which it says nothing reliable.
UNRELIABLE = 0.1
#: Of the URLs of a site, those that no rule is about.
OTHERS = 1.0
PAPER, URLS, CONTENTS = "papers", "ours, URLs alone", "ours, contents"
TESTS = (PAPER, URLS, CONTENTS)
PARAMS = TrialParams(max_loss=MAX_LOSS)
MARKER = "<!-- measured: benchmarks/validation.py -->\n"


@dataclass(slots=True)
class Made:
    """A made-up rule, and how a test dealt with it."""

    rate: float
    wrong: frozenset[int]  #: the pairs that are different pages
    size: int
    tally_contents: int = 0
    verdict: Verdict | None = None
    fetches: int = 0
    looks: int = 0
    bounds: Bounds | None = None


def rules_of_a_site(chance: random.Random) -> list[Made]:
    made = []
    for _ in range(A_SITE):
        rate, size = chance.choice(RATES), chance.choice(SIZES)
        wrong = frozenset(n for n in range(size) if chance.random() < rate)
        made.append(Made(rate, wrong, size))
    return made


def pairs_of(rule: Made, test: str, chance: random.Random) -> list[Pair]:
    """In a random order, with what the log says."""
    pairs = list(_pairs(rule.size, None))
    if test == CONTENTS:
        same, different = _pairs(rule.size, Outcome.SAME), _pairs(rule.size, Outcome.DIFFERENT)
        for n in range(rule.size):
            if chance.random() >= UNRELIABLE:
                pairs[n] = different[n] if n in rule.wrong else same[n]
    chance.shuffle(pairs)
    return pairs


@lru_cache
def _pairs(size: int, known: Outcome | None) -> Sequence[Pair]:
    return [Pair(f"u{n}", f"v{n}", known, content=f"text {n}") for n in range(size)]


def look(rule: Made, pair: Pair, test: str) -> Outcome:
    """Fetch both; where the log knows the text of the one, only the other, if they agree.

    What differs is fetched once more on both sides, but for one that the log knows.
    """
    outcome = Outcome.DIFFERENT if int(pair.url[1:]) in rule.wrong else Outcome.SAME
    rule.looks += 1
    both = 1 if test == CONTENTS and outcome is Outcome.SAME else 2
    rule.fetches += both
    if test != PAPER and outcome is Outcome.DIFFERENT:
        rule.fetches += 2 if test == URLS else 1
    return outcome


def try_alone(rule: Made, test: str, chance: random.Random) -> Case | None:
    """The trial of one rule. Gives what it merges, if it passed."""
    drawn = pairs_of(rule, test, chance)
    pairs = {pair.url: pair for pair in drawn}
    trial: Trial | LiteralTrial = Trial(drawn, PARAMS)
    if test == PAPER:
        trial = LiteralTrial(iter(lambda: chance.choice(drawn), None), LiteralParams())
    while (pair := trial.next_pair()) is not None:
        said = look(rule, pair, test)
        pairs[pair.url] = replace(pair, known=said, looked_at=True)
        trial.record(pair, said)
    rule.verdict, rule.tally_contents = trial.verdict, trial.tally.contents
    if test == PAPER:
        rule.looks = trial.tally.positive + trial.tally.negative
        rule.fetches = 2 * rule.looks  # figure 3 fetches a pair again that it draws again
    if rule.verdict is not Verdict.VALID or test == PAPER:
        return None
    return case_of(Rule.of(DropParameter("p")), rule.size, list(pairs.values()))


@dataclass(frozen=True, slots=True)
class SiteResult:
    lost: int
    lost_at_most: int


def allowed_to_lose(rules: Sequence[Made]) -> float:
    return max(1.0, MAX_LOSS * 2 * (1 + OTHERS) * sum(rule.size for rule in rules))


def try_site(rules: Sequence[Made], test: str, chance: random.Random) -> SiteResult:
    """Trials, then admission, as a campaign does it; fetches are not limited."""
    by_case = {case: rule for rule in rules if (case := try_alone(rule, test, chance)) is not None}
    if test == PAPER:
        return SiteResult(sum(len(rule.wrong) for rule in rules if rule.verdict is Verdict.VALID), 0)
    allowed = allowed_to_lose(rules)
    cases = list(by_case)
    while (case := next_to_prove(cases, allowed, len(rules))) is not None:
        pair = case.hand_out()
        outcome = look(by_case[case], pair, test)
        case.record(pair, outcome)
        if case.wrong > MAX_LOSS * case.merges:
            by_case[case].verdict = Verdict.REFUTED
            cases.remove(case)
    taken = admitted(cases, allowed, len(rules))
    for case in cases:
        rule = by_case[case]
        if case in taken:
            rule.bounds = bounds_of(
                case,
                unseen_bound(Witnesses(rule.tally_contents, rule.tally_contents)),
                len(taken),
                len(rules),
            )
        else:
            rule.verdict = Verdict.UNDECIDED
    lost = sum(len(by_case[case].wrong) for case in taken)
    return SiteResult(lost, lost_together(taken, doubt_for(len(taken), len(rules))))


def hard_world(sites: int) -> Iterator[str]:
    """Sites of which no rule is right, and all are a little wrong: what is admitted has been lucky."""
    yield f"## Where no rule is right: {sites} sites for each share, of {A_SITE} rules with 1,000 pairs"
    yield ""
    yield "| share of wrong pairs | rules accepted | of these, within their bound | sites within the bound of all together | sites within DUST_MAX_LOSS | lost, of what that allows |"
    yield "|---:|" + "---:|" * 5
    for rate in (0.001, 0.005, 0.01, 0.02, 0.03):
        rules, results, allowed = list[Made](), list[SiteResult](), 0.0
        for number in range(sites):
            chance = random.Random(number)
            size = max(SIZES)
            made = [
                Made(rate, frozenset(n for n in range(size) if chance.random() < rate), size)
                for _ in range(A_SITE)
            ]
            results.append(try_site(made, URLS, chance))
            rules += made
            allowed = allowed_to_lose(made)
        taken = [rule for rule in rules if rule.bounds is not None]
        cells = [
            f"{len(taken) / len(rules):.1%}",
            _share([len(rule.wrong) <= rule.bounds.wrong for rule in taken if rule.bounds]),
            _share([site.lost <= site.lost_at_most for site in results]),
            _share([site.lost <= allowed for site in results]),
            f"{sum(site.lost for site in results) / (allowed * sites):.0%}",
        ]
        yield f"| {rate:.1%} | " + " | ".join(cells) + " |"


@dataclass(frozen=True, slots=True)
class World:
    rules: dict[str, list[Made]]
    sites: dict[str, list[SiteResult]]


def simulate(count: int) -> World:
    rules: dict[str, list[Made]] = {test: [] for test in TESTS}
    sites: dict[str, list[SiteResult]] = {test: [] for test in TESTS}
    for number in range(count // A_SITE):
        drawn = rules_of_a_site(random.Random(number))
        for test in TESTS:
            copies = [Made(rule.rate, rule.wrong, rule.size) for rule in drawn]
            sites[test].append(try_site(copies, test, random.Random(number)))
            rules[test] += copies
    return World(rules, sites)


def decided(rules: Sequence[Made]) -> list[Made]:
    return [rule for rule in rules if rule.verdict is not Verdict.UNDECIDED]


def fetches_per_decided(rules: Sequence[Made]) -> float:
    return sum(rule.fetches for rule in rules) / max(1, len(decided(rules)))


def least_fetches(rules: Sequence[Made]) -> float:
    """What no test can do without that accepts a rule of which 5 % is wrong in one of 100 cases.

    It looks at pairs at random until one is wrong, or until a rule 5 % wrong would have shown one in 99 of 100 cases.
    """
    return 2 * sum(_expected_looks(rule.size, len(rule.wrong)) for rule in rules) / len(rules)


@lru_cache
def _expected_looks(size: int, wrong: int) -> float:
    suspected = max(1, math.ceil(PARAMS.threshold * size))
    unseen, unseen_if_suspected, looks = 1.0, 1.0, 0.0  # the probabilities that no wrong one was drawn so far
    for drawn in range(size):
        if unseen_if_suspected <= PARAMS.doubt:
            break
        looks += unseen
        unseen *= 1 - wrong / (size - drawn) if wrong <= size - drawn else 0.0
        unseen_if_suspected *= max(0.0, 1 - suspected / (size - drawn))
    return looks


def as_markdown(world: World) -> Iterator[str]:
    count = len(world.rules[PAPER])
    yield f"## {count:,} rules made up"
    yield ""
    yield "| | papers' test | ours, URLs alone | ours, contents |"
    yield "|---|---:|---:|---:|"
    valid = {test: [r for r in world.rules[test] if r.verdict is Verdict.VALID] for test in TESTS}
    yield _row("accepted", (f"{len(valid[test]):,}" for test in TESTS))
    yield _row(
        "of these, without a wrong pair", (f"{_share(not r.wrong for r in valid[test])}" for test in TESTS)
    )
    kept = [
        f"{_share(len(r.wrong) <= r.bounds.wrong for r in valid[test] if r.bounds)}" for test in TESTS[1:]
    ]
    yield _row("of these, with no more wrong pairs than the bound stated", ("no bound", *kept))
    kept = [f"{_share(s.lost <= s.lost_at_most for s in world.sites[test])}" for test in TESTS[1:]]
    yield _row(
        f"sites (of {len(world.sites[PAPER]):,}) that lose no more than the bound stated", ("no bound", *kept)
    )
    every = 4 * sum(rule.size for rule in world.rules[PAPER])
    lost = [sum(site.lost for site in world.sites[test]) for test in TESTS]
    yield _row("pages lost, of all URLs", (f"{one:,} ({one / every:.3%})" for one in lost))
    bad = {test: [r for r in world.rules[test] if len(r.wrong) >= 0.05 * r.size] for test in TESTS}
    taken = {test: [r.verdict is Verdict.VALID for r in bad[test]] for test in TESTS}
    yield _row("rules at least 5 % wrong: accepted", (_share(taken[test]) for test in TESTS))
    just = {test: [r.verdict is Verdict.VALID for r in bad[test] if r.rate == 0.05] for test in TESTS}
    yield _row("of these, about 5 % wrong: accepted", (_share(just[test]) for test in TESTS))
    good = {test: [r.verdict is Verdict.VALID for r in world.rules[test] if not r.wrong] for test in TESTS}
    yield _row("rules without a wrong pair: accepted", (_share(good[test]) for test in TESTS))
    cost = {test: fetches_per_decided(world.rules[test]) for test in TESTS}
    yield _row(
        "fetches per decided rule", (f"{cost[test]:.1f} ({cost[test] / cost[PAPER]:.0%})" for test in TESTS)
    )
    least = least_fetches(world.rules[PAPER])
    yield _row(
        "the least that a test can take that accepts 5 % wrong in one of 100 cases",
        ("", f"{least:.1f} ({least / cost[PAPER]:.0%})", ""),
    )
    yield ""
    yield from _by_rate(world)


def _by_rate(world: World) -> Iterator[str]:
    yield "| share of wrong pairs | accepted: papers' test | URLs alone | contents | fetches per rule: papers' test | URLs alone | contents |"
    yield "|---:|" + "---:|" * 6
    for rate in RATES:
        of = {test: [rule for rule in world.rules[test] if rule.rate == rate] for test in TESTS}
        cells = [_share(rule.verdict is Verdict.VALID for rule in of[test]) for test in TESTS]
        cells += [f"{sum(rule.fetches for rule in of[test]) / len(of[test]):.1f}" for test in TESTS]
        yield f"| {rate:.1%} | " + " | ".join(cells) + " |"
    yield ""
    mixes = {
        "all rates alike": dict.fromkeys(RATES, 1.0),
        "a third right, the others spread evenly from 0 to 1": {0.0: 0.33, **_spread(0.67)},
        "as among the papers' kept rules: 126 of 3,417 valid": {0.0: 126 / 3417, **_spread(1 - 126 / 3417)},
    }
    yield "| if rules are wrong | papers' test | URLs alone | contents |"
    yield "|---|---:|---:|---:|"
    for name, weights in mixes.items():
        cost = {test: _weighted(world.rules[test], weights) for test in TESTS}
        yield _row(name, (f"{cost[test]:.1f} ({cost[test] / cost[PAPER]:.0%})" for test in TESTS))


def _spread(share: float) -> dict[float, float]:
    """Weights of the rates above 0 as if rates were uniform: by the part of the line that is nearest to each."""
    rates = RATES[1:]
    middles = [0.0, *((a + b) / 2 for a, b in itertools.pairwise(rates)), 1.0]
    return {rate: share * (b - a) for rate, a, b in zip(rates, middles, middles[1:], strict=False)}


def _weighted(rules: Sequence[Made], weights: dict[float, float]) -> float:
    cost, done = 0.0, 0.0
    for rate, weight in weights.items():
        of = [rule for rule in rules if rule.rate == rate]
        cost += weight * sum(rule.fetches for rule in of) / len(of)
        done += weight * len(decided(of)) / len(of)
    return cost / done


def _row(name: str, cells: Iterator[str] | Sequence[str]) -> str:
    return f"| {name} | " + " | ".join(cells) + " |"


def _share(of: Iterator[bool] | Sequence[bool]) -> str:
    seen = Counter(of)
    return f"{seen[True] / max(1, seen.total()):.1%}"


def curves(world: World) -> dict[str, str]:
    """Figure 6 of the papers shows which share of the rules valid after N looks is valid in the end."""
    accepted = [
        Curve(
            test,
            [
                (
                    rate,
                    _mean([rule.verdict is Verdict.VALID for rule in world.rules[test] if rule.rate == rate]),
                )
                for rate in RATES
                if rate <= 0.2
            ],
        )
        for test in TESTS
    ]
    looks = range(0, 121, 2)
    total = {test: decided(world.rules[test]) for test in TESTS}
    done = [
        Curve(test, [(n, _mean([rule.looks <= n for rule in total[test]])) for n in looks]) for test in TESTS
    ]
    return {
        "validation-accepted.svg": drawing("Accepted", "share of a rule's pairs that are wrong", accepted),
        "validation-decided.svg": drawing("Decided", "pairs looked at", done),
    }


def _mean(of: Sequence[bool]) -> float:
    return sum(of) / max(1, len(of))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--output", type=Path, help="a Markdown page; the tables go below its marker")
    parser.add_argument("--rules", type=int, default=10_000, help="made up; 0: none")
    parser.add_argument("--urls", type=int, default=12_000, help="of the crawl that is replayed")
    options = parser.parse_args()
    world = simulate(options.rules) if options.rules else None
    parts = [*(as_markdown(world) if world else ()), ""]
    parts += [*hard_world(options.rules // 250), ""] if options.rules else ()
    parts += replay(options.data / "uci" / "pages.jsonl.gz", options.urls) if options.data else ()
    text = "\n".join(parts).strip() + "\n"
    print(text)
    if options.output:
        page = options.output.read_text(encoding="utf-8").partition(MARKER)[0]
        options.output.write_text(page + MARKER + "\n" + text, encoding="utf-8")
        for name, svg in (curves(world) if world else {}).items():
            options.output.with_name(name).write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
