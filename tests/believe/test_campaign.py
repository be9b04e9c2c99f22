from __future__ import annotations

import random as chance
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.believe.campaign import Campaign, Probe
from scrapy_dust.believe.candidates import Candidate, candidates_of, provable_first, worth_a_trial
from scrapy_dust.believe.evidence import LogEvidence
from scrapy_dust.believe.validation import TrialParams, Verdict
from scrapy_dust.propose.dustbuster.detection import DetectionParams, detect_likely_rules
from scrapy_dust.propose.dustbuster.likely_parameters import detect_likely_parameters
from scrapy_dust.propose.dustbuster.likely_rules import LikelyParameter, LikelyRule
from scrapy_dust.propose.dustbuster.sketches import Similar, likeness_of
from scrapy_dust.propose.edits.edit_detection import LikelyEdit
from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.rules.parameters import DropParameter, SetParameter
from scrapy_dust.rules.paths import DropSlash
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.substitution import Substitute, pair_refines
from scrapy_dust.visits.outcomes import Outcome
from scrapy_dust.visits.pages import Page, SiteLog
from tests.strategies import rules

SITE = "a.example"


def site_of(url: str) -> str | None:
    return SITE


@dataclass(frozen=True, slots=True)
class World:
    """A site that is a function, and what a log says of it: nothing that is not true, but not all either."""

    content: dict[str, int]  #: URL → what it shows; URLs that are not here do not answer
    log: SiteLog

    def outcome(self, url: str, target: str) -> Outcome:
        here, there = self.content.get(url), self.content.get(target)
        if here is None:
            return Outcome.UNKNOWN
        if there is None:
            return Outcome.UNFETCHABLE
        return Outcome.SAME if here == there else Outcome.DIFFERENT


short_urls = st.text("ab1/?=&", max_size=6) | st.builds(
    "{}/{}?{}={}".format,
    st.sampled_from("ab"),
    st.sampled_from("12"),
    st.sampled_from(("a", "s")),
    st.sampled_from("12"),
)


@st.composite
def worlds(draw: st.DrawFn) -> World:
    urls = draw(st.lists(short_urls, min_size=2, max_size=12, unique=True))
    content = {url: draw(st.integers(0, 3)) for url in urls}
    pages: list[Page] = []
    redirects: dict[str, str] = {}
    for url in urls:
        same = [other.url for other in pages if content[other.url] == content[url]]
        kind = draw(st.sampled_from(("page", "page", "page", "redirect", "unseen")))
        if kind == "redirect" and same:
            redirects[url] = draw(st.sampled_from(same))
        elif kind != "unseen":
            shown = content[url]
            # Sketches may agree where pages differ, and be missing, and so may digests.
            sketch = draw(st.sampled_from((None, (0, 0, 0, 0), (shown,) * 4)))
            digest = draw(st.sampled_from((None, f"text {shown}")))
            pages.append(Page(url, sketch=sketch, text_digest=digest))
    return World(content, SiteLog(tuple(pages), redirects))


def candidates_in(world: World, more: Iterable[Rule] = ()) -> list[Candidate]:
    params = DetectionParams(min_support=1, similar=Similar.NONE)
    likely = detect_likely_rules(world.log.pages, params)
    named = detect_likely_parameters(world.log.pages, likeness_of(world.log.pages, Similar.NONE), 1)
    return [*candidates_of(likely, named), *(Candidate((rule,), 1) for rule in more)]


def campaign_in(
    world: World, candidates: Sequence[Candidate], params: TrialParams, seed: int = 0, passes: int = 10
) -> Campaign:
    order = sorted({*(page.url for page in world.log.pages), *world.log.redirects})
    chance.Random(seed).shuffle(order)
    return Campaign(
        candidates, LogEvidence(world.log, order), params, site=SITE, site_of=site_of, passes=passes
    )


def conduct(campaign: Campaign, world: World, at_once: int = 1, seed: int = 0) -> list[Probe]:
    """Answer all probes, *at_once* of them under way, in any order; give them in the order they came."""
    random, waiting, asked = chance.Random(seed), list[Probe](), list[Probe]()
    while True:
        while len(waiting) < at_once and (probe := campaign.next_probe()) is not None:
            waiting.append(probe)
            asked.append(probe)
        if not waiting:
            return asked
        probe = waiting.pop(random.randrange(len(waiting)))
        campaign.record(probe, world.outcome(probe.pair.url, probe.pair.target))


def accepted(campaign: Campaign) -> list[Rule]:
    return [one.rule for one in campaign.decisions if one.verdict is Verdict.VALID]


#: Everything that is open or suspected is looked at, and nothing may be lost.
THOROUGH = TrialParams(count=10**6, suspects=10**6, min_support=1, max_loss=0.0)

at_once = st.integers(1, 8)
seeds = st.integers(0, 9)


@given(worlds(), st.lists(rules(), max_size=3), at_once, seeds)
def test_a_thorough_campaign_never_gives_two_pages_of_the_log_one_key(world, more, at_once, seed):
    campaign = campaign_in(world, candidates_in(world, more), THOROUGH, seed)
    conduct(campaign, world, at_once, seed)
    canonizer = Canonizer({SITE: accepted(campaign)}, site_of)
    shown: dict[str, int] = {}
    for url in [*(page.url for page in world.log.pages), *world.log.redirects]:
        assert shown.setdefault(canonizer.canonize(url), world.content[url]) == world.content[url]


@given(worlds(), st.lists(rules(), max_size=3), at_once, seeds)
def test_a_campaign_ends_and_tells_what_became_of_each_candidate(world, more, at_once, seed):
    candidates = candidates_in(world, more)
    campaign = campaign_in(world, candidates, TrialParams(), seed)
    conduct(campaign, world, at_once, seed)
    assert campaign.finished
    assert campaign.remaining == 0
    every = {rule for candidate in candidates for rule in candidate.rules}
    assert {one.rule for one in campaign.decisions} <= every
    assert len(accepted(campaign)) == len(set(accepted(campaign)))


@given(worlds(), st.lists(rules(), max_size=3), seeds)
def test_a_campaign_never_probes_a_url_whose_key_the_rule_does_not_change(world, more, seed):
    campaign = campaign_in(world, candidates_in(world, more), TrialParams(), seed)
    while (probe := campaign.next_probe()) is not None:
        before = Canonizer({SITE: accepted(campaign)}, site_of)
        after = Canonizer({SITE: [*accepted(campaign), probe.rule]}, site_of)
        url, target = probe.pair.url, probe.pair.target
        assert url != target
        assert before.canonize(url) != after.canonize(url)
        assert before.canonize(url) != before.canonize(target)
        assert after.canonize(url) == after.canonize(target)
        campaign.record(probe, world.outcome(url, target))


@given(worlds(), st.lists(rules(), max_size=3), at_once, seeds)
def test_a_campaign_is_the_same_each_time(world, more, at_once, seed):
    def once() -> object:
        campaign = campaign_in(world, candidates_in(world, more), TrialParams(), seed)
        return conduct(campaign, world, at_once, seed), campaign.decisions

    assert once() == once()


@given(worlds(), st.lists(rules(), max_size=3), seeds)
def test_no_accepted_rule_refines_another_one(world, more, seed):
    campaign = campaign_in(world, candidates_in(world, more), TrialParams(min_support=1), seed)
    conduct(campaign, world)
    of = [rule for rule in accepted(campaign) if rule.substitution is not None]
    for i, rule in enumerate(of):
        for other in of[:i]:
            assert not pair_refines(rule.substitution, other.substitution)
            assert rule != other.reverse


def test_answers_that_come_after_the_end_of_a_trial_change_nothing():
    log = SiteLog(tuple(Page(f"{d}/{n}") for n in range(40) for d in "ab"))
    world = World({page.url: n for n, page in enumerate(log.pages)}, log)
    rule = Rule.of(Substitute("b", "a", start=True))
    campaign = campaign_in(world, [Candidate((rule, rule.reverse), 40)], TrialParams())
    probes = [probe for probe in (campaign.next_probe() for _ in range(5)) if probe is not None]
    assert len(probes) == 5
    campaign.record(probes[0], Outcome.DIFFERENT)
    assert campaign.next_probe() is None
    decided = list(campaign.decisions)
    assert [one.verdict for one in decided] == [Verdict.REFUTED]
    for probe in probes[1:]:
        campaign.record(probe, Outcome.SAME)
    assert campaign.decisions == decided
    assert campaign.finished


def test_rules_are_tried_by_support_and_those_accepted_before_come_first():
    wide, narrow = Rule.of(Substitute("x", "y")), Rule.of(Substitute("z", "w"))
    likely = [LikelyRule(wide.substitution, 5, 5), LikelyRule(narrow.substitution, 9, 9)]
    old = Rule.of(Substitute("old", "new"))
    assert [one.rules[0] for one in candidates_of(likely, [], [(old, 1)])] == [old, narrow, wide]


def test_of_two_rules_that_say_the_same_of_a_log_the_one_that_it_can_prove_is_tried():
    # Of a slash that is left out twelve contents prove more than of any other text.
    slash, text = Rule.of(DropSlash()), Rule.of(Substitute("/x/", "/x"))
    old, many = Rule.of(Substitute("old", "new")), Rule.of(Substitute("a", "b"))
    known = [Candidate((old,), 1, accepted=True), Candidate((text,), 16)]
    more = [Candidate((slash,), 12), Candidate((many,), 150), Candidate((Rule.of(DropSlash()),), 0)]
    found = provable_first([*known, *more], 0.02)
    assert found == [known[0], more[0], more[1], known[1], more[2]]
    assert provable_first([*known, *more], 1.0) == [*known, *more]


def test_what_several_propose_is_one_candidate_that_knows_all_they_know():
    drop, one_value = Rule.of(DropParameter("sid")), Rule.of(SetParameter("sid", "1"))
    www = Substitute("http://www.", "http://", start=True)
    found = candidates_of(
        [LikelyRule(www, 5, 5)],
        [LikelyParameter((drop, one_value), 7)],
        edits=[LikelyEdit(drop, 3), LikelyEdit(Rule.of(www), 9, weighed=False)],
    )
    assert found == [
        Candidate((drop, one_value), 7, narrows=True, enough=1),
        Candidate((Rule.of(www), Rule.of(www.reversed())), 9, narrows=True),
    ]


def test_a_rule_that_falls_late_takes_nothing_with_it_and_no_pair_is_asked_twice():
    log = SiteLog(tuple(Page(f"{d}/{n}") for n in range(60) for d in ("a", "b", "c")))
    content = {page.url: n // 3 for n, page in enumerate(log.pages)}
    odd = [url for url in content if url.startswith("b")]
    rules = [Rule.of(Substitute("b", "a", start=True)), Rule.of(Substitute("c", "a", start=True))]
    for url in odd[::6]:  # drawn early or late
        world = World({**content, url: -1}, log)
        campaign = campaign_in(world, [Candidate((rule,), 60) for rule in rules], TrialParams(min_support=3))
        asked = conduct(campaign, world, at_once=4)
        verdicts = {one.rule: one.verdict for one in campaign.decisions}
        assert verdicts[rules[1]] is Verdict.VALID
        assert len({(probe.pair.url, probe.pair.target) for probe in asked}) == len(asked)
        assert verdicts[rules[0]] is Verdict.REFUTED or campaign.lost_at_most <= 1


def test_where_no_rule_is_valid_nothing_is_lost():
    log = SiteLog(tuple(Page(f"{d}/{n}") for n in range(9) for d in "ab"))
    world = World({page.url: n for n, page in enumerate(log.pages)}, log)
    campaign = campaign_in(world, [Candidate((Rule.of(Substitute("b", "a", start=True)),), 9)], TrialParams())
    conduct(campaign, world)
    assert campaign.lost_at_most == 0


def test_what_could_not_be_looked_at_leaves_a_rule_on_probation():
    log = SiteLog(tuple(Page(f"{d}/{n}", text_digest=f"{n} {d * (n > 40)}") for n in range(60) for d in "ab"))
    world = World({page.url: n // 2 for n, page in enumerate(log.pages)}, log)
    rule = Rule.of(Substitute("b", "a", start=True))
    campaign = campaign_in(world, [Candidate((rule,), 60)], TrialParams())
    for _ in range(12):  # the budget is spent
        probe = campaign.next_probe()
        assert probe is not None
        campaign.record(probe, Outcome.SAME)
    assert not campaign.finished
    assert [one.verdict for one in campaign.decisions] == [Verdict.PROBATION]
    conduct(campaign, world)
    (decision,) = campaign.decisions
    assert decision.verdict is Verdict.VALID
    assert decision.bounds is not None
    assert (decision.bounds.merges, decision.bounds.wrong) == (60, 1)


def printed_views(of_news: int, of_shop: int) -> World:
    """Printed, news are the same, and what is in the shop is not. The log has read few of the printed pages."""
    content, pages = {}, []
    for n in range(of_news + of_shop):
        section = "news" if n < of_news else "shop"
        url = f"http://{SITE}/{section}/{n}"
        content[url] = n
        content[f"{url}?print=1"] = n if section == "news" else 10_000 + n
        printed = f"text {n}" if section == "news" and n % 20 == 0 else None
        pages += [Page(url, text_digest=f"text {n}"), Page(f"{url}?print=1", text_digest=printed)]
    return World(content, SiteLog(tuple(pages), {}))


def test_an_edit_that_fetches_refute_is_tried_where_they_bear_it_out():
    world = printed_views(400, 400)
    edit = Rule((DropParameter("print"),))
    campaign = campaign_in(world, [Candidate((edit,), 800, narrows=True)], TrialParams())
    conduct(campaign, world)
    (found,) = accepted(campaign)
    assert found.operations == edit.operations
    assert found.apply(f"http://{SITE}/news/7?print=1") == f"http://{SITE}/news/7"
    assert found.apply(f"http://{SITE}/shop/407?print=1") == f"http://{SITE}/shop/407?print=1"


def test_what_is_offered_later_is_tried_and_must_prove_itself():
    edit = Rule((DropParameter("print"),))
    for world, found in ((printed_views(400, 0), [edit]), (printed_views(0, 400), [])):
        campaign = campaign_in(world, [], TrialParams())
        assert campaign.finished
        campaign.offer([Candidate((edit,), 0)])
        conduct(campaign, world)
        assert accepted(campaign) == found


def test_of_an_edit_that_fails_everywhere_no_part_is_believed():
    world = printed_views(0, 300)
    edit = Rule((DropParameter("print"),))
    campaign = campaign_in(world, [Candidate((edit,), 300, narrows=True)], TrialParams())
    assert len(conduct(campaign, world)) < 10
    assert accepted(campaign) == []


@given(worlds(), st.integers(0, 3))
def test_whatever_is_narrowed_a_campaign_ends_and_merges_no_two_pages_that_it_looked_at(world, seed):
    candidates = [replace(one, narrows=True) for one in candidates_in(world)]
    campaign = campaign_in(world, candidates, TrialParams(min_support=1), seed)
    asked = conduct(campaign, world, at_once=2, seed=seed)
    assert campaign.finished
    canonize = Canonizer({SITE: accepted(campaign)}, site_of, 10).canonize
    for probe in asked:
        pair = probe.pair
        if probe.rule in accepted(campaign) and world.outcome(pair.url, pair.target) is Outcome.DIFFERENT:
            assert canonize(pair.url) != canonize(pair.target)


def spared(world: World, of: Iterable[Rule]) -> int:
    """URLs of the log that rules put under the key of another one."""
    canonizer = Canonizer({SITE: list(of)}, site_of)
    urls = [*(page.url for page in world.log.pages), *world.log.redirects]
    return len(urls) - len({canonizer.canonize(url) for url in urls})


@given(worlds(), st.lists(rules(), max_size=3), seeds, st.integers(0, 30), st.floats(0, 1))
def test_fetches_that_contradict_nothing_take_nothing_from_what_the_log_alone_believes(
    world, more, seed, budget, silent
):
    candidates, params = candidates_in(world, more), TrialParams(min_support=1)
    by_log = campaign_in(world, candidates, replace(params, log_only=True), seed)
    assert by_log.next_probe() is None
    campaign, random = campaign_in(world, candidates, params, seed), chance.Random(seed)
    contradicted = False
    for _ in range(budget):
        probe = campaign.next_probe()
        if probe is None:
            break
        says = random.random() >= silent
        outcome = world.outcome(probe.pair.url, probe.pair.target) if says else Outcome.UNKNOWN
        contradicted |= outcome is Outcome.DIFFERENT
        campaign.record(probe, outcome, fetches=1)
    campaign.believe_the_log()
    assert contradicted or spared(world, accepted(campaign)) >= spared(world, accepted(by_log))


def test_what_can_never_count_is_given_up_and_the_budget_is_kept_for_others():
    log = SiteLog(tuple(Page(f"{d}/{n}") for n in range(300) for d in ("a", "b", "c", "d")))
    world = World({page.url: n // 4 for n, page in enumerate(log.pages)}, log)
    silent, good = Rule.of(Substitute("b", "a", start=True)), Rule.of(Substitute("d", "c", start=True))
    campaign, asked = (
        campaign_in(world, [Candidate((silent,), 400), Candidate((good,), 300)], TrialParams()),
        0,
    )
    while (probe := campaign.next_probe()) is not None:
        asked += probe.rule == silent
        says = probe.rule == good
        campaign.record(
            probe, world.outcome(probe.pair.url, probe.pair.target) if says else Outcome.UNKNOWN, fetches=2
        )
    assert asked <= 20
    assert accepted(campaign) == [good]


def test_what_can_come_into_force_is_looked_at_until_it_does_whatever_else_is_on_probation():
    known = {f"/{n}{sid}": n for n in range(400) for sid in ("", "?sid=1")}
    opened = {f"/open/{n}{sid}": 1000 + n for n in range(44) for sid in ("", "?sid=1")}
    few = {
        f"/few{rule}/{n}{of}": 2000 + 10 * rule + n
        for rule in range(12)
        for n in range(3)
        for of in ("", f"?p{rule}=1")
    }
    pages = [Page(url, text_digest=f"text {shown}") for url, shown in (known | few).items()]
    world = World(known | opened | few, SiteLog((*pages, *map(Page, opened)), {}))
    rule = Rule((DropParameter("sid"),))
    others = [Candidate((Rule((DropParameter(f"p{one}"),)),), 1) for one in range(12)]
    campaign = campaign_in(world, [Candidate((rule,), 9), *others], TrialParams(max_risk=0.02))

    conduct(campaign, world)

    verdicts = {decision.verdict for decision in campaign.decisions if decision.rule != rule}
    assert verdicts == {Verdict.PROBATION}
    assert accepted(campaign) == [rule]


@pytest.mark.parametrize(("holds", "verdict"), [(True, Verdict.PROBATION), (False, Verdict.REFUTED)])
def test_of_a_rule_that_all_pairs_together_would_not_prove_few_are_looked_at(holds, verdict):
    shown = {f"/{n}{sid}": (n, sid and not holds) for n in range(12) for sid in ("", "?sid=1")}
    world = World({url: hash(one) for url, one in shown.items()}, SiteLog(tuple(map(Page, shown)), {}))
    campaign = campaign_in(
        world, [Candidate((Rule((DropParameter("sid"),)),), 24)], TrialParams(max_risk=0.0001)
    )

    asked = conduct(campaign, world)

    assert len(asked) <= 8
    assert [one.verdict for one in campaign.decisions] == [verdict]


def test_a_rule_that_spares_less_than_its_share_of_a_site_is_not_tried_but_where_it_is_in_the_book_already():
    few, many, of_one = (Rule.of(DropParameter(name)) for name in ("few", "many", "one"))
    one_id = Rule.of(Substitute("/41e4f24430a2/", "/tip/"))
    known = Candidate((of_one,), 1, accepted=True)
    candidates = [Candidate((few,), 2), Candidate((many,), 3), Candidate((one_id,), 99), known]
    assert worth_a_trial(candidates, 3) == [candidates[1], known]
