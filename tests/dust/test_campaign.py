from __future__ import annotations

import random as chance
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.dust.campaign import Campaign, Probe
from scrapy_dust.dust.candidates import Candidate, candidates_of
from scrapy_dust.dust.canonization import Canonizer
from scrapy_dust.dust.detection import DetectionParams, detect_likely_rules
from scrapy_dust.dust.edits.edit import Edit
from scrapy_dust.dust.edits.queries import DropParameter
from scrapy_dust.dust.evidence import LogEvidence
from scrapy_dust.dust.judging import Outcome
from scrapy_dust.dust.pages import Page, SiteLog
from scrapy_dust.dust.parameters import detect_likely_parameters
from scrapy_dust.dust.rules import LikelyRule, Rule, SubstringRule
from scrapy_dust.dust.sketches import Similar, likeness_of
from scrapy_dust.dust.validation import Test, TrialParams, Verdict
from tests import oracle
from tests.dust.test_rules import sides
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
    of = [rule for rule in accepted(campaign) if isinstance(rule, SubstringRule)]
    for i, rule in enumerate(of):
        for other in of[:i]:
            assert not oracle.pair_refines(oracle.Pair(*sides(rule), 0), oracle.Pair(*sides(other), 0))
            assert rule != other.reversed()


def test_answers_that_come_after_the_end_of_a_trial_change_nothing():
    log = SiteLog(tuple(Page(f"{d}/{n}") for n in range(40) for d in "ab"))
    world = World({page.url: n for n, page in enumerate(log.pages)}, log)
    rule = SubstringRule("b", "a", start=True)
    campaign = campaign_in(world, [Candidate((rule, rule.reversed()), 40)], TrialParams())
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


def test_the_other_direction_is_tried_only_where_no_page_would_be_lost():
    """Figure 4, lines 10 to 13: b → a fails, since a is not there; a → b merges what the log has not seen."""
    log = SiteLog(tuple(Page(f"{d}/{n}") for n in range(200) for d in ("a", "b/b")))
    content = {page.url: n // 2 for n, page in enumerate(log.pages)}
    rule = SubstringRule("b/b", "a", start=True)
    dead = World({url: shown for url, shown in content.items() if url.startswith("b")}, log)
    campaign = campaign_in(dead, [Candidate((rule, rule.reversed()), 200)], TrialParams(test=Test.PAPER))
    conduct(campaign, dead)
    assert campaign.decisions[0].rule == rule
    assert campaign.decisions[0].verdict is Verdict.REFUTED
    assert [one.rule for one in campaign.decisions] == [rule, rule.reversed()]


def test_rules_are_tried_by_support_and_those_accepted_before_come_first():
    wide, narrow = SubstringRule("x", "y"), SubstringRule("z", "w")
    likely = [LikelyRule(wide, 5, 5), LikelyRule(narrow, 9, 9)]
    old = SubstringRule("old", "new")
    assert [one.rules[0] for one in candidates_of(likely, [], [(old, 1)])] == [old, narrow, wide]


def test_a_rule_that_falls_late_takes_nothing_with_it_and_no_pair_is_asked_twice():
    log = SiteLog(tuple(Page(f"{d}/{n}") for n in range(60) for d in ("a", "b", "c")))
    content = {page.url: n // 3 for n, page in enumerate(log.pages)}
    odd = [url for url in content if url.startswith("b")]
    rules = [SubstringRule("b", "a", start=True), SubstringRule("c", "a", start=True)]
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
    campaign = campaign_in(world, [Candidate((SubstringRule("b", "a", start=True),), 9)], TrialParams())
    conduct(campaign, world)
    assert campaign.lost_at_most == 0


def test_what_could_not_be_looked_at_leaves_a_rule_undecided():
    log = SiteLog(tuple(Page(f"{d}/{n}", text_digest=f"{n} {d * (n > 40)}") for n in range(60) for d in "ab"))
    world = World({page.url: n // 2 for n, page in enumerate(log.pages)}, log)
    rule = SubstringRule("b", "a", start=True)
    campaign = campaign_in(world, [Candidate((rule,), 60)], TrialParams())
    for _ in range(12):  # the budget is spent
        probe = campaign.next_probe()
        assert probe is not None
        campaign.record(probe, Outcome.SAME)
    assert not campaign.finished
    assert [one.verdict for one in campaign.decisions] == [Verdict.UNDECIDED]
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
    edit = Edit((DropParameter("print"),))
    campaign = campaign_in(world, [Candidate((edit,), 800, narrows=True)], TrialParams())
    conduct(campaign, world)
    (found,) = accepted(campaign)
    assert isinstance(found, Edit)
    assert found.operations == edit.operations
    assert found.apply(f"http://{SITE}/news/7?print=1") == f"http://{SITE}/news/7"
    assert found.apply(f"http://{SITE}/shop/407?print=1") == f"http://{SITE}/shop/407?print=1"


def test_what_is_offered_later_is_tried_and_must_prove_itself():
    edit = Edit((DropParameter("print"),))
    for world, found in ((printed_views(400, 0), [edit]), (printed_views(0, 400), [])):
        campaign = campaign_in(world, [], TrialParams())
        assert campaign.finished
        campaign.offer([Candidate((edit,), 0)])
        conduct(campaign, world)
        assert accepted(campaign) == found


def test_of_an_edit_that_fails_everywhere_no_part_is_believed():
    world = printed_views(0, 300)
    edit = Edit((DropParameter("print"),))
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
