from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_dust.believe.evidence import LogEvidence
from scrapy_dust.believe.keyed_urls import KeyedUrls
from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.substitution import Substitute
from scrapy_dust.visits.outcomes import Outcome
from scrapy_dust.visits.pages import Page, SiteLog
from tests.believe.test_campaign import SITE, World, site_of, worlds
from tests.strategies import rules

KNOWN = SiteLog(
    (
        Page("a", sketch=(1, 2, 3, 4), text_digest="x"),
        Page("b", sketch=(1, 2, 3, 4), text_digest="x"),
        Page("c", sketch=(1, 2, 3, 4), text_digest="y"),
        Page("d", sketch=(1, 2, 3, 9), text_digest="z"),
        Page("e", sketch=(5, 6, 7, 8), text_digest="w", volatile=True),
        Page("f"),
    ),
    redirects={"r": "a", "s": "r", "loop": "loop2", "loop2": "loop", "away": "nowhere"},
)


def known(url: str, target: str, matches: int = 4) -> Outcome | None:
    return LogEvidence(KNOWN, [], matches).pair(url, target).known


def test_equal_text_and_redirects_prove_that_two_urls_are_one_page():
    assert known("a", "b") is Outcome.SAME
    assert known("r", "a") is known("a", "s") is known("s", "r") is known("r", "b") is Outcome.SAME


def test_other_sketches_are_a_suspicion_and_like_ones_leave_it_open():
    assert known("a", "d") is Outcome.DIFFERENT
    assert known("a", "d", matches=3) is None
    assert known("a", "c") is None


def test_a_page_that_changes_or_has_no_sketch_proves_nothing():
    assert known("a", "e") is known("e", "a") is known("a", "f") is known("f", "a") is None


def test_a_url_that_the_log_does_not_have_is_open():
    assert known("a", "unseen") is None
    assert known("loop", "a") is known("a", "loop") is known("a", "away") is None


def test_urls_that_differ_in_their_fragment_are_one_request_unless_a_browser_made_it():
    log = SiteLog(
        (
            Page("a#x"),
            Page("a#y"),
            Page("b#x", rendered="playwright"),
            Page("c#x", text_digest="x"),
            Page("c#y", text_digest="y"),
        ),
        {},
    )
    evidence = LogEvidence(log, [])
    assert evidence.pair("a#x", "a#y").known is evidence.pair("a#x", "a").known is Outcome.SAME
    assert evidence.pair("a#x", "b").known is evidence.pair("b#x", "b").known is None
    assert evidence.pair("c#x", "c#y").known is None


def test_what_the_site_answers_to_nonsense_is_no_proof():
    evidence = LogEvidence(KNOWN, [])
    evidence.nothing = frozenset({"x"})
    assert evidence.pair("a", "b").known is evidence.pair("a", "unseen").known is Outcome.UNKNOWN


def test_a_page_and_what_the_site_answers_to_nonsense_may_well_differ():
    evidence = LogEvidence(KNOWN, [])
    evidence.nothing = frozenset({"x"})
    assert evidence.pair("a", "d").known is evidence.pair("d", "a").known is Outcome.DIFFERENT


def test_only_urls_that_led_to_a_page_are_drawn_in_the_order_given():
    assert LogEvidence(KNOWN, ["away", "s", "d", "loop", "unseen", "a"]).urls == ("s", "d", "a")


@given(worlds(), st.data())
def test_the_log_never_says_same_of_pages_that_differ(world: World, data):
    evidence = LogEvidence(world.log, [])
    every = st.sampled_from(sorted(world.content))
    url, target = data.draw(every), data.draw(every)
    if evidence.pair(url, target).known is Outcome.SAME:
        assert world.content[url] == world.content[target]


def _canonizer(of_site: list[Rule]) -> Canonizer:
    return Canonizer({SITE: of_site}, site_of)


some_rules = st.lists(rules(), max_size=3)


def log_of(*urls: str) -> World:
    return World(dict.fromkeys(urls, 0), SiteLog(tuple(Page(url) for url in urls)))


# A rule that applies only to a form on the way: to neither /a nor its key /c, but it makes /d of /a all the same.
ON_THE_WAY = (
    log_of("/a", "/d"),
    [Rule.of(Substitute("b", "c")), Rule.of(Substitute("a", "b"))],
    Rule.of(Substitute("b", "d")),
)
# The same where the first of a class leaves it, while another URL comes to those that stay.
CHANGE_OF_GUARD = (
    log_of("/a", "/k", "/q/b"),
    [
        Rule.of(Substitute("/b", "/k", start=True, end=True)),
        Rule.of(Substitute("a", "b")),
        Rule.of(Substitute("/q/d", "/k", start=True)),
    ],
    Rule.of(Substitute("b", "d")),
)
# Rules that feed each other leave a URL alone, until a rule breaks the circle.
CIRCLE = (
    log_of("/a", "/d"),
    [Rule.of(Substitute("b", "e/a")), Rule.of(Substitute("a", "b"))],
    Rule.of(Substitute("b", "d")),
)


@given(worlds(), some_rules, rules())
@example(*ON_THE_WAY)
@example(*CHANGE_OF_GUARD)
@example(*CIRCLE)
def test_moved_urls_are_those_whose_key_a_rule_changes(world, before, rule):
    urls = [page.url for page in world.log.pages]
    old, new = _canonizer(before), _canonizer([*before, rule])
    moved = KeyedUrls(LogEvidence(world.log, urls), old).moved_urls(rule, new)
    assert moved == {url: new.canonize(url) for url in urls if new.canonize(url) != old.canonize(url)}


@given(worlds(), some_rules, rules())
@example(*ON_THE_WAY)
@example(*CHANGE_OF_GUARD)
@example(*CIRCLE)
def test_rules_that_were_accepted_one_by_one_move_what_they_move_together(world, before, rule):
    evidence, accepted = LogEvidence(world.log, [page.url for page in world.log.pages]), list[Rule]()
    classes = KeyedUrls(evidence, _canonizer([]))
    for one in before:
        new = _canonizer([*accepted, one])
        classes.accept(one, classes.moved_urls(one, new), new)
        accepted.append(one)
    new = _canonizer([*accepted, rule])
    assert classes.moved_urls(rule, new) == KeyedUrls(evidence, _canonizer(accepted)).moved_urls(rule, new)


@given(worlds(), some_rules, rules())
@example(*ON_THE_WAY)
@example(*CHANGE_OF_GUARD)
@example(*CIRCLE)
def test_every_class_that_is_swallowed_is_compared_with_what_swallows_it(world, before, rule):
    """Join what was one class before, and what a pair compares: then each new class is in one piece."""
    urls = [page.url for page in world.log.pages]
    old, new = _canonizer(before), _canonizer([*before, rule])
    classes = KeyedUrls(LogEvidence(world.log, urls), old)
    joined = {url: old.canonize(url) for url in urls}
    for pair in classes.merged_pairs(classes.moved_urls(rule, new)):
        assert new.canonize(pair.url) == new.canonize(pair.target)
        here, there = joined.get(pair.url), joined.get(pair.target)
        if here is not None and there is not None:
            joined = {url: here if of == there else of for url, of in joined.items()}
    pieces: dict[str, set[str]] = {}
    for url in urls:
        pieces.setdefault(new.canonize(url), set()).add(joined[url])
    assert all(len(of) == 1 for of in pieces.values())


@given(worlds(), some_rules, rules())
def test_what_a_rule_saves_is_how_many_classes_there_are_fewer(world, before, rule):
    urls = [page.url for page in world.log.pages]
    old, new = _canonizer(before), _canonizer([*before, rule])
    classes = KeyedUrls(LogEvidence(world.log, urls), old)
    moved = classes.moved_urls(rule, new)
    saved = classes.classes_saved(moved)
    assert len(classes) == len({old.canonize(url) for url in urls})
    classes.accept(rule, moved, new)
    assert len(classes) == len({new.canonize(url) for url in urls})
    assert saved == len({old.canonize(url) for url in urls}) - len(classes)


def test_a_redirect_that_is_all_the_log_has_says_so_until_it_was_looked_at():
    log = SiteLog((Page("b", text_digest="x"), Page("c", text_digest="x")), {"a": "b"})
    evidence = LogEvidence(log, [])
    assert evidence.pair("a", "b").by_redirect
    assert not evidence.pair("b", "c").by_redirect
    evidence.learn("a", "b", Outcome.DIFFERENT)
    pair = evidence.pair("a", "b")
    assert (pair.known, pair.looked_at, pair.by_redirect) == (Outcome.DIFFERENT, True, False)
    assert evidence.pair("b", "c").known is Outcome.SAME
