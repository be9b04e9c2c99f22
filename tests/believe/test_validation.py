from __future__ import annotations

import math
import random as chance
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.believe.betting import looks_needed
from scrapy_dust.believe.validation import Pair, Trial, TrialParams, Verdict
from scrapy_dust.visits.outcomes import Outcome

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


# --- laws, whatever the parameters -----------------------------------------------------------------------------------

any_params = st.builds(
    TrialParams,
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
    # How many pairs N is has nothing to do with it.
    needed = looks_needed(len(texts), suspected, params.doubt)
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
def test_a_valid_rule_has_examples_and_loses_few_pages_whatever_targets_do_not_answer(case, at_once, seed):
    pairs, said, params = case
    trial = Trial(pairs, params)
    run(trial, said, at_once, seed)
    if trial.verdict is Verdict.VALID:
        tally = trial.tally
        enough = min(params.min_support, (1 - params.threshold) * params.count)
        assert (tally.contents if params.log_only else tally.positive) >= enough
        # A target without a page takes no page from anybody: that is no counterexample.
        assert tally.contradictions < max(params.threshold * params.count, 1)


def test_one_page_that_would_be_lost_refutes_a_rule_by_default():
    said = [Outcome.SAME] * 20 + [Outcome.DIFFERENT] + [Outcome.SAME] * 100
    trial = Trial(pairs_for(said), TrialParams())
    assert len(run(trial, said)) == 21
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


def by_redirect(number: int) -> list[Pair]:
    return [
        Pair(f"u{n}", f"v{n}", Outcome.SAME, content=f"text {n}", by_redirect=True) for n in range(number)
    ]


def test_a_rule_that_rests_on_redirects_is_valid_where_some_of_them_come_again():
    trial, asked = Trial(by_redirect(100), TrialParams()), 0
    while (pair := trial.next_pair()) is not None:
        asked += 1
        trial.record(pair, Outcome.SAME)
    assert trial.verdict is Verdict.VALID
    assert asked <= 3


def test_a_rule_whose_redirects_do_not_come_again_is_not_valid():
    for outcome, verdict in ((Outcome.DIFFERENT, Verdict.REFUTED), (Outcome.UNKNOWN, Verdict.UNDECIDED)):
        trial = Trial(by_redirect(100), TrialParams())
        while (pair := trial.next_pair()) is not None:
            trial.record(pair, outcome)
        assert trial.verdict is verdict


def test_where_nothing_can_be_fetched_redirects_of_the_log_count():
    assert Trial(by_redirect(200), TrialParams(log_only=True)).verdict is Verdict.VALID
