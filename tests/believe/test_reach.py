"""How far a rule was seen to hold, and where it has still to show itself."""

from __future__ import annotations

from scrapy_dust.believe.reach import (
    COMMON,
    Reach,
    Reaches,
    aspects_of,
    change_of,
    changed_urls,
    confirmations_needed,
    reach_by_rule,
    reach_shown_by,
)
from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.rules.guards import Condition
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.paths import AnySegment, DropIndex
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.spellings import DropWww, FoldCase
from scrapy_dust.sites import site_of

SID = Rule.of(DropParameter("sid"))
RISK = 0.02


def url(part: str, number: int, sid: object) -> str:
    return f"http://s.test/{part}/{number}?sid={sid}"


def reach(*parts: str, contents: int = 60, sids: tuple[object, object] = (1, 2)) -> Reach:
    """Of a rule that has held on so many contents in each of *parts*, with numbers of three digits."""
    shown = {
        url(part, 100 + n, sid): f"{part} {n}" for part in parts for n in range(contents) for sid in sids
    }
    found = Reach(RISK)
    found.limit([SID], reach_by_rule(shown, Canonizer({"s.test": [SID]}, site_of)))
    return found


def is_beyond(known: Reach, asked: str) -> bool:
    return known.is_beyond([SID], asked, asked.partition("?")[0])


def test_where_a_rule_was_seen_to_hold_it_is_in_force():
    assert not is_beyond(reach("a"), url("a", 999, 7))


def test_it_has_to_show_itself_in_another_part_with_longer_numbers_and_with_values_of_another_kind():
    known = reach("a")
    assert is_beyond(known, url("other", 100, 7))
    assert is_beyond(known, url("a", 1000, 7))
    assert is_beyond(known, url("a", 100, "deadbeef01"))
    assert is_beyond(known, url("a", 100, "x"))


def test_what_holds_for_long_numbers_holds_for_shorter_ones():
    assert not is_beyond(reach("a"), url("a", 9, 7))
    assert not is_beyond(reach("a", sids=(100, 101)), url("a", 100, 7))


def test_it_has_to_show_itself_where_the_number_that_it_leaves_out_is_longer():
    assert is_beyond(reach("a"), url("a", 100, 10))


def test_upper_case_is_another_kind_of_value():
    known = reach("a", sids=("b", "c"))
    assert not is_beyond(known, url("a", 100, "d"))
    assert is_beyond(known, url("a", 100, "D"))


def test_each_content_that_is_the_same_there_bears_it_out_until_they_are_enough():
    known, other = reach("a"), url("other", 100, 7)
    enough = confirmations_needed(SID.families, 1, RISK)
    assert enough > 1
    for content in range(enough):
        assert is_beyond(known, other)
        known.confirm([SID], other, url("other", 100, 8), content)
        known.confirm([SID], other, url("other", 100, 8), content)  # says no more
    assert not is_beyond(known, other)


def test_a_rule_that_has_held_in_many_parts_is_believed_in_the_next():
    parts = [f"part{chr(97 + n)}" for n in range(20)]
    assert not is_beyond(reach(*parts, contents=5), url("other", 100, 7))
    assert (
        confirmations_needed(SID.families, 0, RISK)
        > confirmations_needed(SID.families, 3, RISK)
        > confirmations_needed(SID.families, 30, RISK)
        == 0
    )


def test_urls_that_show_different_pages_bear_nothing_out():
    shown = {url("a", n, sid): f"{n} {sid}" for n in range(9) for sid in (1, 2)}
    assert reach_by_rule(shown, Canonizer({"s.test": [SID]}, site_of)) == {}


def test_a_rule_without_limits_reaches_everywhere():
    known = reach("a")
    assert not known.is_beyond([Rule.of(FoldCase())], "http://s.test/A/7", "http://s.test/a/7")
    assert known.confirmed(Rule.of(FoldCase())) == {}


def test_numbers_and_ids_of_rules_make_no_difference():
    assert change_of(Rule.of(DropParameter("sid", "17"))) == change_of(Rule.of(DropParameter("sid", "4")))


def test_what_a_rule_does_away_with_is_one_kind_of_text_wherever_it_stands():
    index = Rule.of(DropIndex())
    kinds = {aspects_of(index, f"http://s.test/{part}/index.html")[-1] for part in ("a", "b/c", "7/D")}
    assert len(kinds) == 1


def test_a_rule_that_is_made_after_another_is_looked_at_where_it_is_made():
    www, index = Rule.of(DropWww()), Rule.of(DropIndex())
    canonizer = Canonizer({"s.test": [www, index]}, site_of)
    url, key = "http://www.s.test/a/index.html", "http://s.test/a/"
    assert changed_urls(index, url, key, canonizer.explain) == (url,)
    late = Rule.of(DropIndex(), where=(Condition("host", "s.test"),))
    canonizer = Canonizer({"s.test": [www, late]}, site_of)
    assert changed_urls(late, url, key, canonizer.explain) == (url, "http://s.test/a/index.html")


def test_of_a_rule_about_one_page_its_urls_bear_it_out():
    login, back = "http://s.test/login?next=", Rule.of(DropParameter("next"))
    rules = Canonizer({"s.test": [back]}, site_of)
    shown = {f"{login}%2F{kind}{n}": "a form" for n in range(60) for kind in ("a", "B")}
    known = Reach(RISK)
    known.limit([back], reach_by_rule(shown, rules))
    assert not known.is_beyond([back], f"{login}%2FB9", login)
    for n in range(60):
        assert known.is_beyond([back], f"{login}{n}x", login) == (
            n < confirmations_needed(back.families, 2, RISK)
        )
        known.confirm([back], f"{login}{n}x", login, 1)


def test_what_a_rule_does_on_one_site_says_nothing_of_another():
    parts = ["a", *(f"part{n:c}" for n in range(ord("a"), ord("z")))]
    many = {url(part, 100 + n, sid): f"{part} {n}" for part in parts for n in range(60) for sid in (1, 2)}
    other = {
        one.replace("//s.", "//t."): content for one, content in many.items() if content.startswith("a ")
    }
    known = Reaches(RISK, site_of)
    for site, shown in (("s.test", many), ("t.test", other)):
        known.limit(site, [SID], reach_by_rule(shown, Canonizer({site: [SID]}, site_of)))

    def beyond(asked: str) -> bool:
        return known.is_beyond([SID], asked, asked.partition("?")[0])

    new = url("new", 100, 7)
    assert not beyond(new)
    assert beyond(new.replace("//s.", "//t."))
    assert not beyond(url("a", 100, 7).replace("//s.", "//t."))
    assert not beyond(new.replace("//s.", "//unknown."))
    assert {one.split("/")[2] for one in known.confirmed("t.test", SID) if one.startswith("in ")} == {
        "t.test"
    }


SLUG = Rule.of(AnySegment(3))
BOTH = Rule.of(DropParameter("from"), DropParameter("v"))


def reach_of(rule: Rule, shown: dict[str, str]) -> Reach:
    """Of *rule*, after a crawl in which URLs showed what *shown* says."""
    known = Reach(RISK)
    known.limit([rule], reach_by_rule(shown, Canonizer({"s.test": [rule]}, site_of)))
    return known


def item(number: int, word: str) -> str:
    return f"http://s.test/item/{number}/{word}"


def of_letters(number: int) -> str:
    """A word that stands for *number*."""
    return "".join(chr(97 + int(digit)) for digit in f"{number:04}")


def of_titles() -> Reach:
    """Of a rule that has held for two words for each item, and no word for two items."""
    return reach_of(
        SLUG, {item(n, of_letters(n + 1000 * k)): f"{n}" for n in range(100, 160) for k in (1, 2)}
    )


def test_of_several_values_that_a_rule_leaves_out_each_has_to_show_itself():
    page = "http://s.test/t/{}"
    shown = {f"{page.format(n)}?from={n % 9}&v=ab{n}c": f"{n}" for n in range(100, 160)}
    shown |= {f"{page.format(n)}?v=ab{n}d": f"{n}" for n in range(100, 160)}
    known = reach_of(BOTH, shown)
    one = page.format(120)
    assert not known.is_beyond([BOTH], f"{one}?from=3&v=ab555e", one)
    assert not known.is_beyond([BOTH], f"{one}?from=3", one)
    assert known.is_beyond([BOTH], f"{one}?v=3", one)
    assert known.is_beyond([BOTH], f"{one}?from=ab555e", one)
    assert known.is_beyond([BOTH], f"{one}?from=&v=ab555e", one)


def test_a_value_that_several_pages_have_has_to_show_itself_where_each_was_of_one_page():
    known = of_titles()
    keepers = {n: item(n, of_letters(n + 1000)) for n in range(100, 160)}
    assert not known.is_beyond([SLUG], item(100, "reviews"), keepers[100])  # as good as a title so far
    enough = confirmations_needed(SLUG.families, 1, RISK)
    for n in range(101, 101 + enough):
        assert known.is_beyond([SLUG], item(n, "reviews"), keepers[n])
        assert not known.is_beyond([SLUG], item(n, of_letters(n + 3000)), keepers[n])
        known.confirm([SLUG], item(n, "reviews"), keepers[n], n)
    assert not known.is_beyond([SLUG], item(150, "reviews"), keepers[150])
    assert not known.is_beyond([SLUG], item(150, "photos"), keepers[150])
    assert not known.is_beyond([SLUG], item(151, "photos"), keepers[151])


def test_a_keeper_with_a_value_that_several_pages_have_is_no_better():
    known = of_titles()
    known.is_beyond([SLUG], item(100, "reviews"), item(100, "abab"))
    assert known.is_beyond([SLUG], item(101, "acac"), item(101, "reviews"))


def test_a_value_of_one_page_alone_is_never_of_several():
    known = of_titles()
    for _ in range(3):
        assert not known.is_beyond([SLUG], item(100, "reviews"), item(100, "abab"))


def test_a_session_that_all_pages_have_is_no_news_where_sessions_were_seen():
    known = reach("a", sids=("b", "c"))
    assert not any(is_beyond(known, url("a", n, "d")) for n in range(100, 160))
    pairs = [(url("a", n, "b"), f"http://s.test/a/{n}", f"{n}") for n in range(100, 160)]
    assert reach_shown_by(SID, pairs)[COMMON] == len(pairs) - 1
