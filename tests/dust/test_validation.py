from __future__ import annotations

import math
import random as chance
from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_dust.dust.betting import looks_needed
from scrapy_dust.dust.judging import Outcome
from scrapy_dust.dust.validation import Pair, Test, Trial, TrialParams, Verdict
from tests import oracle

#: What figure 3 can tell apart. "unknown" is "fetch u failed" there.
SAID = (Outcome.SAME, Outcome.DIFFERENT, Outcome.UNFETCHABLE, Outcome.UNKNOWN)

outcomes = st.lists(st.sampled_from(SAID), max_size=40) | st.lists(
    st.sampled_from((Outcome.SAME,) * 15 + SAID), max_size=60
)


def pairs_for(said: Sequence[Outcome]) -> list[Pair]:
    """Pairs of which the log says nothing; the number in the URL is where the truth is."""
    return [Pair(f"http://a.example/{n}", f"http://a.example/{n}/") for n in range(len(said))]


def truth(said: Sequence[Outcome], pair: Pair) -> Outcome:
    return said[int(pair.url.rpartition("/")[2])]


def run(trial: Trial, said: Sequence[Outcome], at_once: int = 1, seed: int = 0) -> list[tuple[Pair, Outcome]]:
    """Do what a spider does: keep *at_once* probes under way, and let answers come in any order."""
    random, waiting, answered = chance.Random(seed), list[Pair](), list[tuple[Pair, Outcome]]()
    while True:
        while len(waiting) < at_once and (pair := trial.next_pair()) is not None:
            waiting.append(pair)
        if not waiting:
            return answered
        pair = waiting.pop(random.randrange(len(waiting)))
        trial.record(pair, truth(said, pair))
        answered.append((pair, truth(said, pair)))


#: Figure 3 and no more: nothing known beforehand, and a different page is a counterexample like any other.
def papers(count: int, threshold: float) -> TrialParams:
    return TrialParams(test=Test.PAPER, count=count, threshold=threshold, max_loss=1.0, open_probes=0)


figure_3 = st.builds(
    papers, st.integers(1, 10) | st.integers(1, 60), st.sampled_from((0.01, 0.05, 0.07, 0.1, 0.2, 0.25, 0.5))
)


@given(outcomes, figure_3)
@example([Outcome.SAME] * 100, papers(100, 0.05))
@example([Outcome.SAME] * 100, papers(20, 0.05))
@example([Outcome.SAME] * 4 + [Outcome.DIFFERENT] * 100, papers(100, 0.05))
def test_with_the_papers_parameters_the_verdict_is_that_of_figure_3(said, params):
    trial = Trial(pairs_for(said), params)
    probed = len(run(trial, said))
    fetched: list[str] = []

    def fetch(url: str) -> object:
        fetched.append(url)
        number = int(url.rstrip("/").rpartition("/")[2])
        if not url.endswith("/"):
            return None if said[number] is Outcome.UNKNOWN else "sketch"
        return {Outcome.SAME: "sketch", Outcome.DIFFERENT: "another"}.get(said[number])

    draws = iter([pair.url for pair in pairs_for(said)])
    valid = oracle.validate_rule(lambda url: url + "/", draws, fetch, params.count, params.threshold)
    if valid is not None:
        assert trial.verdict is (Verdict.VALID if valid else Verdict.REFUTED)
        assert probed == len(fetched) / 2
    else:
        assert probed == len(said)


@given(outcomes, figure_3)
def test_where_the_urls_run_out_the_share_of_counterexamples_decides(said, params):
    pairs = pairs_for(said)
    trial = Trial(pairs, params)
    if len(run(trial, said)) < len(said) or len(said) >= (1 - params.threshold) * params.count:
        return
    positive = said.count(Outcome.SAME)
    negative = said.count(Outcome.DIFFERENT) + said.count(Outcome.UNFETCHABLE)
    if negative and (negative >= params.threshold * (positive + negative)):
        assert trial.verdict is Verdict.REFUTED
    else:
        assert trial.verdict is (Verdict.VALID if positive >= params.min_support else Verdict.UNDECIDED)


# --- laws, whatever the parameters -----------------------------------------------------------------------------------

any_params = st.builds(
    TrialParams,
    test=st.sampled_from(Test),
    count=st.integers(1, 40),
    threshold=st.sampled_from((0.05, 0.1, 0.25)),
    min_support=st.integers(1, 5),
    max_loss=st.sampled_from((0.0, 0.001, 0.1, 1.0)),
    per_content=st.integers(1, 10),
    suspects=st.integers(0, 20),
    open_probes=st.integers(0, 12),
    log_only=st.booleans(),
)


@st.composite
def trials(draw: st.DrawFn) -> tuple[list[Pair], list[Outcome], TrialParams]:
    """Pairs of which the log says anything, and what is true of them, which need not be the same."""
    said = draw(outcomes)
    known = st.sampled_from((None, None, Outcome.SAME, Outcome.DIFFERENT, Outcome.UNKNOWN))
    content = st.sampled_from((None, "x", "y", "z"))
    pairs = [Pair(pair.url, pair.target, draw(known), draw(content)) for pair in pairs_for(said)]
    return pairs, said, draw(any_params)


at_once = st.integers(1, 30)


@given(trials(), at_once, st.integers(0, 99))
def test_a_trial_ends_with_a_verdict_and_asks_for_nothing_more(case, at_once, seed):
    pairs, said, params = case
    trial = Trial(pairs, params)
    run(trial, said, at_once, seed)
    assert trial.verdict is not None
    assert trial.next_pair() is None


@given(trials(), at_once, st.integers(0, 99))
def test_a_trial_asks_for_each_pair_once_and_only_for_its_own(case, at_once, seed):
    pairs, said, params = case
    asked = [pair for pair, _ in run(Trial(pairs, params), said, at_once, seed)]
    assert len(asked) == len(set(asked))
    assert set(asked) <= set(pairs)
    assert all(pair.known in (None, Outcome.DIFFERENT) for pair in asked)
    assert sum(pair.known is Outcome.DIFFERENT for pair in asked) <= params.suspects


@given(trials(), at_once, st.integers(0, 99))
def test_nothing_is_asked_for_where_nothing_can_be_fetched(case, at_once, seed):
    pairs, said, params = case
    offline = TrialParams(count=params.count, max_loss=params.max_loss, log_only=True)
    trial = Trial(pairs, offline)
    assert run(trial, said, at_once, seed) == []
    assert trial.verdict is not None


@given(trials(), st.integers(2, 30), st.integers(0, 99), st.lists(st.sampled_from(SAID), max_size=30))
def test_a_decided_verdict_stays(case, at_once, seed, later):
    pairs, said, params = case
    trial = Trial(pairs, params)
    waiting = [pair for pair in (trial.next_pair() for _ in range(at_once)) if pair is not None]
    random = chance.Random(seed)
    while waiting and trial.verdict is None:
        pair = waiting.pop(random.randrange(len(waiting)))
        trial.record(pair, truth(said, pair))
        if trial.verdict is None and (more := trial.next_pair()) is not None:
            waiting.append(more)
    verdict = trial.verdict
    for pair, outcome in zip(waiting, later, strict=False):
        trial.record(pair, outcome)
        assert trial.verdict is verdict


@given(trials(), at_once, st.integers(0, 99))
def test_replayed_outcomes_give_the_same_verdict_and_tally(case, at_once, seed):
    pairs, said, params = case
    first, again = Trial(pairs, params), Trial(pairs, params)
    assert run(first, said, at_once, seed) == run(again, said, at_once, seed)
    assert (first.verdict, first.tally) == (again.verdict, again.tally)


@given(trials(), at_once, st.integers(0, 99))
def test_probes_under_way_are_never_more_than_a_verdict_can_take(case, at_once, seed):
    pairs, _said, params = case
    trial = Trial(pairs, params)
    waiting = 0
    while trial.next_pair() is not None:
        waiting += 1
    texts = {pair.content or pair.url for pair in pairs if pair.known is not Outcome.UNKNOWN}
    suspected = max(1, math.ceil(params.threshold * len(texts)))
    # How many pairs N is has nothing to do with the sequential test.
    needed = params.count if params.test is Test.PAPER else looks_needed(len(texts), suspected, params.doubt)
    assert waiting <= max(needed, params.open_probes, 1)


# --- losing a page is the worst that a rule can do ---------------------------------------------------------------------


@given(trials(), at_once, st.integers(0, 99))
def test_a_rule_shown_to_lose_more_pages_than_allowed_is_never_valid(case, at_once, seed):
    pairs, said, params = case
    trial = Trial(pairs, params)
    answered = run(trial, said, at_once, seed)
    tally = trial.tally
    lost = sum(outcome is Outcome.DIFFERENT for _, outcome in answered)
    assert tally.contradictions >= lost
    if tally.contradictions > params.max_loss * (tally.positive + tally.negative):
        assert trial.verdict is not Verdict.VALID


@given(trials(), at_once, st.integers(0, 99))
def test_a_valid_rule_has_examples_and_few_counterexamples(case, at_once, seed):
    pairs, said, params = case
    trial = Trial(pairs, params)
    run(trial, said, at_once, seed)
    if trial.verdict is Verdict.VALID:
        tally = trial.tally
        enough = min(params.min_support, (1 - params.threshold) * params.count)
        assert (tally.contents if params.log_only else tally.positive) >= enough
        assert tally.negative < max(params.threshold * params.count, 1)


def test_one_page_that_would_be_lost_refutes_a_rule_by_default():
    said = [Outcome.SAME] * 20 + [Outcome.DIFFERENT] + [Outcome.SAME] * 100
    trial = Trial(pairs_for(said), TrialParams())
    assert len(run(trial, said)) == 21
    assert trial.verdict is Verdict.REFUTED


def test_dead_targets_refute_a_rule_at_epsilon_only():
    said = [Outcome.UNFETCHABLE] * 4 + [Outcome.SAME] * 100
    trial = Trial(pairs_for(said), TrialParams(test=Test.PAPER))
    run(trial, said)
    assert trial.verdict is Verdict.VALID
    said = [Outcome.UNFETCHABLE] * 5 + [Outcome.SAME] * 100
    trial = Trial(pairs_for(said), TrialParams(test=Test.PAPER))
    run(trial, said)
    assert trial.verdict is Verdict.REFUTED


def test_what_the_log_suspects_is_looked_at_first():
    said = [Outcome.SAME] * 50 + [Outcome.DIFFERENT]
    pairs = pairs_for(said)
    pairs[-1] = Pair(pairs[-1].url, pairs[-1].target, Outcome.DIFFERENT)
    trial = Trial(pairs, TrialParams())
    assert len(run(trial, said)) == 1
    assert trial.verdict is Verdict.REFUTED


def test_a_suspicion_that_turns_out_wrong_counts_as_an_example():
    said = [Outcome.SAME] * 3
    pairs = [Pair(pair.url, pair.target, Outcome.DIFFERENT) for pair in pairs_for(said)]
    trial = Trial(pairs, TrialParams())
    run(trial, said)
    assert trial.verdict is Verdict.VALID
    assert trial.tally.positive == 3


def test_pairs_that_the_log_decides_cost_no_fetch_but_open_ones_are_tried():
    pairs = [Pair(f"u{n}", f"v{n}", Outcome.SAME, f"text{n}") for n in range(200)]
    assert Trial(pairs, TrialParams()).verdict is Verdict.VALID
    open_pairs = [Pair(f"o{n}", f"p{n}") for n in range(50)]
    trial = Trial(pairs + open_pairs, TrialParams())
    assert trial.verdict is None
    for _ in range(10):
        pair = trial.next_pair()
        assert pair is not None
        trial.record(pair, Outcome.SAME)
    assert trial.verdict is Verdict.VALID


def test_many_pairs_of_one_text_do_not_make_a_rule_valid_by_themselves():
    """An error page with status 200 looks like every other: one text is little evidence."""
    pairs = [Pair(f"u{n}", f"v{n}", Outcome.SAME, "not found") for n in range(200)]
    trial = Trial([*pairs, Pair("o", "p")], TrialParams())
    assert trial.verdict is None
    assert trial.tally.from_log == 10


@pytest.mark.parametrize(("known", "verdict"), [(2, Verdict.UNDECIDED), (3, Verdict.VALID)])
def test_too_few_examples_leave_a_rule_undecided(known, verdict):
    pairs = [Pair(f"u{n}", f"v{n}", Outcome.SAME, f"text{n}") for n in range(known)]
    assert Trial(pairs, TrialParams()).verdict is verdict


def test_without_fetches_a_suspicion_counts_as_true():
    pairs = [Pair(f"u{n}", f"v{n}", Outcome.SAME, f"text{n}") for n in range(200)]
    suspicion = Pair("u", "v", Outcome.DIFFERENT)
    assert Trial([*pairs, suspicion], TrialParams(log_only=True)).verdict is Verdict.REFUTED


def test_without_fetches_texts_that_are_nearly_equal_refute_and_with_them_they_are_looked_at():
    pairs = [Pair(f"u{n}", f"v{n}", Outcome.SAME, f"text{n}") for n in range(200)]
    nearly = Pair("u", "v", texts_differ=True)
    assert Trial([*pairs, nearly], TrialParams(log_only=True)).verdict is Verdict.REFUTED
    assert Trial([*pairs, nearly], TrialParams()).next_pair() == nearly


def test_a_suspicion_that_cannot_be_settled_keeps_a_rule_undecided():
    """A site that is down, or bans us, must not make rules valid that its log speaks against."""
    known = [Pair(f"/{n}", f"/{n}?", Outcome.SAME, content=str(n)) for n in range(300)]
    suspects = [Pair(f"/s{n}", f"/s{n}?", Outcome.DIFFERENT) for n in range(200)]
    trial = Trial([*known, *suspects], TrialParams())
    while (pair := trial.next_pair()) is not None:
        trial.record(pair, Outcome.UNKNOWN)
    assert trial.verdict is Verdict.UNDECIDED


def test_a_few_pages_that_always_change_do_not_hold_up_a_rule():
    known = [Pair(f"/{n}", f"/{n}?", Outcome.SAME, content=str(n)) for n in range(300)]
    suspects = [Pair(f"/s{n}", f"/s{n}?", Outcome.DIFFERENT) for n in range(10)]
    trial = Trial([*known, *suspects], TrialParams())
    while (pair := trial.next_pair()) is not None:
        trial.record(pair, Outcome.UNKNOWN)
    assert trial.verdict is Verdict.VALID
