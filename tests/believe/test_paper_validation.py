"""Phases 1 to 5 with the papers' own parameters and tests, against the papers' figures line by line."""

from __future__ import annotations

import random as chance
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from zlib import crc32

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_dust.believe.campaign import Probe
from scrapy_dust.believe.candidates import Candidate, candidates_of
from scrapy_dust.believe.evidence import LogEvidence
from scrapy_dust.believe.paper_validation import LiteralCampaign, LiteralParams, LiteralTrial, sketches_agree
from scrapy_dust.believe.validation import Pair, Verdict
from scrapy_dust.propose.dustbuster.detection import DetectionParams, detect_likely_rules
from scrapy_dust.propose.dustbuster.elimination import EliminationParams, eliminate_redundant
from scrapy_dust.propose.dustbuster.sketches import Similar
from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.rules.parameters import DropParameter, SetParameter
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.site_rules import in_order
from scrapy_dust.rules.substitution import Substitute
from scrapy_dust.visits.outcomes import Outcome
from scrapy_dust.visits.pages import Page, SiteLog
from tests import oracle
from tests.strategies import dusty_sites, logs, pages_of

SITE = "a.example"
SAID = (Outcome.SAME, Outcome.DIFFERENT, Outcome.UNFETCHABLE, Outcome.UNKNOWN)
figure_3 = st.builds(
    LiteralParams,
    st.integers(1, 10) | st.integers(1, 60),
    st.sampled_from((0.01, 0.05, 0.07, 0.1, 0.2, 0.25, 0.5)),
)


def pair_of(number: int) -> Pair:
    return Pair(f"http://a.example/{number}", f"http://a.example/{number}/")


def run(trial: LiteralTrial, said: Sequence[Outcome], at_once: int, seed: int) -> list[Pair]:
    """Answer all pairs, *at_once* of them under way, in any order; give them in the order they were asked for."""
    random, waiting, asked = chance.Random(seed), list[Pair](), list[Pair]()
    while True:
        while len(waiting) < at_once and (pair := trial.next_pair()) is not None:
            waiting.append(pair)
            asked.append(pair)
        if not waiting:
            return asked
        pair = waiting.pop(random.randrange(len(waiting)))
        trial.record(pair, said[int(pair.url.rpartition("/")[2])])


@given(
    st.lists(st.sampled_from((Outcome.SAME,) * 15 + SAID), max_size=60),
    figure_3,
    st.integers(1, 8),
    st.integers(0, 9),
)
@example([Outcome.SAME] * 100, LiteralParams(), 1, 0)
@example([Outcome.DIFFERENT] * 4 + [Outcome.SAME] * 96, LiteralParams(), 3, 0)
@example([Outcome.DIFFERENT] * 5 + [Outcome.SAME] * 96, LiteralParams(), 3, 0)
def test_a_rule_is_valid_where_figure_3_says_so_and_no_more_is_fetched(said, params, at_once, seed):
    trial = LiteralTrial(map(pair_of, range(len(said))), params)
    asked = run(trial, said, at_once, seed)
    fetched: list[str] = []

    def fetch(url: str) -> object:
        fetched.append(url)
        outcome = said[int(url.rstrip("/").rpartition("/")[2])]
        if not url.endswith("/"):
            return None if outcome is Outcome.UNKNOWN else "sketch"
        return {Outcome.SAME: "sketch", Outcome.DIFFERENT: "another"}.get(outcome)

    draws = (pair_of(number).url for number in range(len(said)))
    valid = oracle.validate_rule(lambda url: url + "/", draws, fetch, params.count, params.threshold)
    assert trial.verdict is {True: Verdict.VALID, False: Verdict.REFUTED, None: Verdict.UNDECIDED}[valid]
    assert [pair.url for pair in asked] == fetched[::2]


@pytest.mark.parametrize(("wrong", "least", "most"), [(1, 0.97, 1.0), (5, 0.39, 0.5), (10, 0.0, 0.06)])
def test_a_rule_a_little_wrong_is_valid_as_often_as_n_and_epsilon_let_it(wrong, least, most):
    """Of N = 100 with ε = 5 %: at most 4 of the first 99 are wrong."""
    said = [Outcome.DIFFERENT] * wrong + [Outcome.SAME] * (100 - wrong)
    runs, valid = 500, 0
    for seed in range(runs):
        draws = map(pair_of, chance.Random(seed).choices(range(100), k=100))
        trial = LiteralTrial(draws, LiteralParams())
        run(trial, said, 1, seed)
        valid += trial.verdict is Verdict.VALID
    assert least <= valid / runs <= most


def test_without_a_tolerance_one_counterexample_refutes():
    for said, verdict in (([Outcome.SAME] * 9, Verdict.VALID), ([Outcome.DIFFERENT] * 9, Verdict.REFUTED)):
        trial = LiteralTrial(map(pair_of, cycle(range(9))), LiteralParams(100, 0.0))
        run(trial, said, 1, 0)
        assert trial.verdict is verdict


@dataclass(frozen=True, slots=True)
class Sketch:
    """As the papers compare them: some of the four shingles must be equal."""

    values: tuple[int, ...]
    matches: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sketch) and sketches_agree(self.values, other.values, self.matches)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class Web:
    """What each URL shows: some pages are gone, some are alike."""

    seed: int
    matches: int

    def sketch(self, url: str) -> Sketch | None:
        drawn = crc32(f"{self.seed} {url}".encode())
        if drawn % 16 == 0:
            return None
        return Sketch((1, 1, 1, 1) if drawn % 16 < 13 else (1, 1, drawn % 2, drawn // 2 % 2), self.matches)

    def outcome(self, url: str, target: str) -> Outcome:
        here, there = self.sketch(url), self.sketch(target)
        if here is None:
            return Outcome.UNKNOWN
        if there is None:
            return Outcome.UNFETCHABLE
        return Outcome.SAME if here == there else Outcome.DIFFERENT


def conduct(campaign: LiteralCampaign, web: Web, at_once: int = 1, seed: int = 0) -> set[tuple[str, str]]:
    random, waiting, asked = chance.Random(seed), list[Probe](), set[tuple[str, str]]()
    while True:
        while len(waiting) < at_once and (probe := campaign.next_probe()) is not None:
            assert (probe.pair.url, probe.pair.target) not in asked
            waiting.append(probe)
            asked.add((probe.pair.url, probe.pair.target))
        if not waiting:
            assert campaign.finished
            return asked
        probe = waiting.pop(random.randrange(len(waiting)))
        campaign.record(probe, web.outcome(probe.pair.url, probe.pair.target))


def tokens(rule: Rule) -> tuple[oracle.Tokens, oracle.Tokens]:
    of = rule.substitution
    assert of is not None
    head, tail = (oracle.START,) * of.start, (oracle.END,) * of.end
    return (*head, *oracle.tokens_of(of.alpha), *tail), (*head, *oracle.tokens_of(of.beta), *tail)


def drawing(seed: int, urls: Sequence[str], changes: Callable[[str], str], fetch: Web) -> Iterator[str]:
    """Random URLs among those that change, as long as one of these can be fetched: figure 3 would draw for ever."""
    changed = [url for url in urls if changes(url) != url]
    random, failed = chance.Random(seed), set[str]()
    while len(failed) < len(changed):
        url = random.choice(changed)
        if fetch.sketch(url) is None:
            failed.add(url)
        yield url


@given(
    logs() | dusty_sites().map(lambda site: site.log),
    st.builds(Web, st.integers(0, 99), st.integers(1, 4)),
    st.builds(LiteralParams, st.integers(1, 40), st.sampled_from((0.05, 0.1, 0.25))),
    st.integers(1, 3),
    st.integers(1, 4),
)
def test_phases_1_to_5_find_what_the_papers_figures_find(log, web, params, support, at_once):
    pages, records = pages_of(log), oracle.unique_records(log)
    detection = DetectionParams(min_support=support, similar=Similar.NONE)
    kept = eliminate_redundant(detect_likely_rules(pages, detection), EliminationParams()).kept
    L = [record.url for record in records]
    evidence = LogEvidence(SiteLog(tuple(pages)), L)
    campaign = LiteralCampaign(
        candidates_of(kept, []),
        evidence,
        params,
        site=SITE,
        draw_for=lambda rule: chance.Random(crc32(str(tokens(rule)).encode())).choice,
    )
    asked = conduct(campaign, web, at_once)

    fetched: set[tuple[str, str]] = set()

    def is_valid(alpha: oracle.Tokens, beta: oracle.Tokens) -> bool | None:
        def rule(url: str) -> str:
            return oracle.apply_rule(alpha, beta, url)

        def noted(url: str) -> str:
            fetched.add((url, rule(url)))
            return rule(url)

        draws = drawing(crc32(str((alpha, beta)).encode()), L, rule, web)
        return oracle.validate_rule(noted, draws, web.sketch, params.count, params.threshold)

    R = oracle.kept_rules(records, 35, 6, 11, support, 0.05, 1, 1100, oracle.likely_similar_always)
    LR = oracle.validate(R, is_valid)
    valid = [one.rule for one in campaign.decisions if one.verdict is Verdict.VALID]
    assert [tokens(rule) for rule in valid] == LR
    assert asked == fetched

    # Deviations of phase 5: the rules' own order, and no form that is not finished.
    canonizer = Canonizer({SITE: valid}, lambda url: SITE)
    for url in L:
        form, settled = oracle.canonize(url, [tokens(rule) for rule in in_order(valid)], 10)
        assert canonizer.canonize(url) == (form if settled else url)


def campaign_of(candidates: Sequence[Candidate], log: SiteLog, **params: object) -> LiteralCampaign:
    evidence = LogEvidence(log, [page.url for page in log.pages])
    given = LiteralParams(**params)  # type: ignore[arg-type]
    return LiteralCampaign(
        candidates, evidence, given, site=SITE, draw_for=lambda rule: chance.Random(0).choice
    )


def test_each_rule_of_a_parameter_is_validated_by_itself():
    log = SiteLog(tuple(Page(f"http://a.example/{n}?sid={n}", sketch=(1, 1, 1, 1)) for n in range(9)))
    rules = (Rule.of(DropParameter("sid")), Rule.of(SetParameter("sid", "0")))
    campaign = campaign_of([Candidate(rules, 9)], log)
    conduct(campaign, Web(0, 4))
    assert [one.rule for one in campaign.decisions] == list(rules)


def test_without_fetches_the_sketches_of_the_log_stand_for_the_pages():
    log = SiteLog(
        tuple(
            Page(f"http://a.example/{side}/{n}", sketch=(n, n, n, n + (side == "b")))
            for n in range(9)
            for side in ("a", "b")
        )
    )
    rule = Rule.of(Substitute("/b/", "/a/"))
    for matches, verdict in ((4, Verdict.REFUTED), (3, Verdict.VALID)):
        campaign = campaign_of([Candidate((rule,), 9)], log, matches=matches, log_only=True)
        assert campaign.next_probe() is None
        assert [one.verdict for one in campaign.decisions] == [verdict]


def test_nothing_is_bounded_and_nothing_is_on_probation():
    log = SiteLog(tuple(Page(f"http://a.example/{side}/{n}") for n in range(3) for side in "ab"))
    campaign = campaign_of([Candidate((Rule.of(Substitute("/b/", "/a/")),), 3)], log)
    while (probe := campaign.next_probe()) is not None:
        campaign.record(probe, Outcome.SAME, "a text")
    (decision,) = campaign.decisions
    assert (decision.verdict, decision.bounds, campaign.lost_at_most) == (Verdict.VALID, None, None)
    assert decision.saves == 3
