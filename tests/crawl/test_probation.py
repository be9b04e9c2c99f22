"""Rules on probation: a plain crawl proves those that are true, refutes those that are false, and loses no item."""

from __future__ import annotations

import random
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

from scrapy_dust.rule_book import Entry, RuleBook, Status
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.paths import DropIndex
from scrapy_dust.rules.rule import Rule
from scrapy_dust.sites import site_of
from tests.life.both import PLAIN, Came, Reader, run
from tests.life.web import Answer, Asked, index, notice, page, serving

pytestmark = pytest.mark.once

SID, REF, VIEW, PAGE, INDEX = (
    *(Rule.of(DropParameter(name)) for name in ("sid", "ref", "view", "page")),
    Rule.of(DropIndex()),
)
TRUE, FALSE = (SID, REF, INDEX), (VIEW, PAGE)
PRODUCTS = 40


def shop(asked: Asked) -> Answer:
    """Sessions, referrers and index pages do not matter; views and pages of a list do."""
    said = dict(parse_qsl(urlsplit(asked.url).query))
    if asked.path == "/":
        return index(*links(random.Random(5)))
    return page(f"{asked.path.removesuffix('index.html')} {said.get('view', '')} {said.get('page', '')}")


def links(chance: random.Random) -> list[str]:
    found = []
    for number in range(PRODUCTS):
        found += [f"/p/{number}?sid={chance.randrange(10**6)}" for _ in range(4)]
        found += [f"/q/{number}?ref={name}" for name in ("home", "list", "mail")]
        found += [f"/d/{number}/", f"/d/{number}/index.html"]
        found += [f"/l/{number}?view=a", f"/l/{number}?view=b", f"/m/{number}?page=1", f"/m/{number}?page=2"]
    chance.shuffle(found)
    return found


def book_of(folder: Path, home: str, *rules: Rule, status: Status = Status.PROBATION) -> str:
    path = folder / "dust-rules.json"
    entries = [Entry(rule, status, reason="imported") for rule in rules]
    RuleBook().with_site(str(site_of(home)), entries).save(path)
    return str(path)


def settings_of(folder: Path, book: str, **more) -> dict:
    settings = PLAIN | {"ADDONS": {"scrapy_dust.Addon": 900}, "DUST_LOG_PROCESS": False, "LOG_LEVEL": "INFO"}
    return (
        settings | {"DUST_DIR": str(folder / "dust"), "DUST_RULES": [book], "CONCURRENT_REQUESTS": 4} | more
    )


def crawled(served, settings, spider=Reader) -> Came:
    came = Came()
    served.asked.clear()
    run(spider, settings, came, homes=served.homes)
    came.asked = served.paths
    return came


def statuses(book: str) -> dict[Rule, Status]:
    known = RuleBook.load([book])
    return {entry.rule: entry.status for site in known.sites for entry in known.entries(site)}


def test_a_plain_crawl_proves_true_rules_refutes_false_ones_and_loses_no_item(tmp_path):
    with serving(shop) as served:
        plain = crawled(served, PLAIN | {"CONCURRENT_REQUESTS": 4})
        book = book_of(tmp_path, served.homes[0], *TRUE, *FALSE)
        ours = crawled(served, settings_of(tmp_path, book))
        again = crawled(served, settings_of(tmp_path, book))
    assert ours.items.keys() == again.items.keys() == plain.items.keys()
    assert statuses(book) == dict.fromkeys(TRUE, Status.VALID) | dict.fromkeys(FALSE, Status.REFUTED)
    assert ours.stats["dust/probation/proved"] == 3
    assert ours.stats["dust/probation/refuted"] == 2
    assert ours.stats["dust/probation"] == 0
    assert len(again.asked) < len(ours.asked) < len(plain.asked)


def both(tmp_path, web, *rules, before=(), **more):
    """*web* crawled by plain Scrapy, and with *rules* on probation: items that are lost, the crawl, and the book."""
    with serving(web) as served:
        plain = crawled(served, PLAIN | {"CONCURRENT_REQUESTS": 4})
        book = book_of(tmp_path, served.homes[0], *rules)
        for links in before:
            crawled(served, settings_of(tmp_path, book, **more), links)
        ours = crawled(served, settings_of(tmp_path, book, **more))
    assert plain.items
    return plain.items.keys() - ours.items.keys(), plain, ours, book


def listed(paths):
    chance = random.Random(3)
    found = list(paths)
    chance.shuffle(found)
    return found


def test_what_was_found_is_kept_where_a_crawl_is_cut_short(tmp_path):
    def web(asked: Asked) -> Answer:
        if asked.path.startswith("/list/"):
            part = int(asked.path.rpartition("/")[2])
            return index(*(f"/p/{n}?sid={sid}" for n in range(part * 6, part * 6 + 6) for sid in "ab"))
        return page(asked.path)

    statuses_then = []
    with serving(web) as served:
        book = book_of(tmp_path, served.homes[0], SID)
        for part in range(4):
            spider = type("Of", (Reader,), {"paths": (f"/list/{part}",)})
            crawled(served, settings_of(tmp_path, book, CLOSESPIDER_PAGECOUNT=12), spider)
            statuses_then.append(statuses(book)[SID])
    assert statuses_then[0] is Status.PROBATION
    assert statuses_then[-1] is Status.VALID


def test_a_job_that_is_paused_goes_on_with_what_it_has_proved_and_loses_nothing(tmp_path):
    with serving(shop) as served:
        plain = crawled(served, PLAIN | {"CONCURRENT_REQUESTS": 4})
        book = book_of(tmp_path, served.homes[0], *TRUE, *FALSE)
        settings = settings_of(tmp_path, book, JOBDIR=str(tmp_path / "job"), CLOSESPIDER_PAGECOUNT=150)
        came, served.asked[:] = Came(), []
        for _ in range(30):
            run(Reader, settings, came, homes=served.homes)
            if came.reasons[-1] == "finished":
                break
    assert came.reasons[-1] == "finished"
    assert plain.items.keys() <= came.items.keys()
    then = statuses(book)
    assert then[SID] is then[REF] is Status.VALID
    assert {then[rule] for rule in FALSE} <= {Status.REFUTED, Status.PROBATION}
    assert len(served.asked) < len(plain.asked) * 0.95


def test_a_wall_in_place_of_all_pages_proves_nothing(tmp_path):
    def web(asked: Asked) -> Answer:
        if asked.path == "/":
            return index(*listed(f"/p/{n}?view={view}" for n in range(50) for view in "abcd"))
        if asked.number < 120:
            return notice("We are very busy now. Please come back in a while.")
        return page(asked.url)

    lost, _, ours, book = both(tmp_path, web, VIEW)
    assert "dust/probation/proved" not in ours.stats
    assert statuses(book)[VIEW] is not Status.VALID
    assert not lost


def test_a_part_that_changes_at_each_fetch_is_no_other_page(tmp_path):
    def web(asked: Asked) -> Answer:
        if asked.path == "/":
            return index(*listed(f"/p/{n}?sid={sid}" for n in range(60) for sid in "abcde"))
        return page(asked.path, extra=f"<div class=clock>{asked.number} requests so far, thank you</div>")

    lost, plain, ours, book = both(tmp_path, web, SID)
    assert statuses(book)[SID] is Status.VALID
    assert not lost
    # How many are left when the rule is proved is drawn.
    assert len(ours.asked) < len(plain.asked)


def test_without_canaries_nothing_is_fetched_twice_and_a_difference_keeps_a_rule_from_being_proved(tmp_path):
    lost, plain, ours, book = both(tmp_path, shop, SID, VIEW, DUST_CANARY_RATE=0)
    assert set(ours.asked) <= set(plain.asked)
    assert len(ours.asked) == len(set(ours.asked))
    assert statuses(book) == {SID: Status.VALID, VIEW: Status.PROBATION}
    assert not lost


def test_parameters_that_always_come_together_are_proved_together(tmp_path):
    def web(asked: Asked) -> Answer:
        if asked.path == "/":
            return index(*listed(f"/p/{n}?sid={n}{s}&ref={s}{n}x" for n in range(60) for s in range(4)))
        return page(asked.path)

    lost, plain, ours, book = both(tmp_path, web, SID, REF)
    assert statuses(book) == {SID: Status.VALID, REF: Status.VALID}
    assert not lost
    assert len(ours.asked) < len(plain.asked)


def test_what_opposes_a_true_rule_does_not_take_it_down(tmp_path):
    """A false rule makes classes of pages that a true one would not."""

    def web(asked: Asked) -> Answer:
        if asked.path == "/":
            return index(*listed(f"/p?id={n}&sid={n}{s}" for n in range(60) for s in range(4)))
        return page(asked.query["id"])

    lost, _, _, book = both(tmp_path, web, SID, Rule.of(DropParameter("id")))
    assert statuses(book) == {SID: Status.VALID, Rule.of(DropParameter("id")): Status.REFUTED}
    assert not lost


def of_sections(differs):
    """A web of two lists; ``v`` matters where *differs* says so."""

    def web(asked: Asked) -> Answer:
        if asked.path.startswith("/list/"):
            section, begin, end = asked.path.removeprefix("/list/").split("-")
            numbers = range(int(begin), int(end))
            return index(*listed(f"/{section}/{n}?v={v}" for n in numbers for v in (1, 2, 3)))
        if asked.path == "/":
            return index("/list/a-100-160", "/list/b-1000-1040")
        return page(asked.url if differs(asked.path) else asked.path)

    return web


V = Rule.of(DropParameter("v"))


class OnlyA(Reader):
    paths = ("/list/a-100-160",)


def test_a_rule_that_holds_in_one_section_only_loses_nothing_in_another_that_no_crawl_has_seen(tmp_path):
    web = of_sections(lambda path: path.startswith("/b/"))
    lost, _, ours, _ = both(tmp_path, web, V, before=(OnlyA,))
    assert not lost
    assert ours.stats.get("dust/suspended") == 1


def test_a_rule_that_holds_for_short_ids_only_loses_nothing_of_longer_ones(tmp_path):
    web = of_sections(lambda path: len(path) > len("/b/100"))
    lost, _, _, book = both(tmp_path, web, V, before=(OnlyA,))
    assert not lost
    assert statuses(book)[V] is Status.REFUTED


def test_a_rule_that_holds_for_small_values_only_loses_nothing_of_greater_ones(tmp_path):
    def web(asked: Asked) -> Answer:
        if asked.path == "/small":
            return index(*listed(f"/p/{n}?v={v}" for n in range(100, 160) for v in (1, 2, 3)))
        if asked.path == "/":
            return index("/small", *listed(f"/p/{n}?v={v}" for n in range(160, 200) for v in (1, 10, 11)))
        return page(asked.path if int(asked.query["v"]) < 10 else asked.url)

    class Small(Reader):
        paths = ("/small",)

    lost, _, _, book = both(tmp_path, web, V, before=(Small,))
    assert not lost
    assert statuses(book)[V] is Status.REFUTED


def test_a_session_in_every_link_of_a_new_section_is_no_difference(tmp_path):
    def web(asked: Asked) -> Answer:
        if asked.path == "/":
            return index("/a/100?v=1", "/a/100?v=2", "/b/1000?v=1", "/b/1000?v=2")
        _, section, number = asked.path.split("/")
        first, size = (100, 60) if section == "a" else (1000, 120)
        others = ((int(number) - first) * 3 + n for n in (1, 2, 3))
        v = asked.query["v"]
        return page(asked.path, *(f"/{section}/{first + other % size}?v={v}" for other in others))

    class OnlyLinkedA(Reader):
        paths = ("/a/100?v=1", "/a/100?v=2")

    lost, plain, ours, book = both(tmp_path, web, V, before=(OnlyLinkedA,))
    assert not lost
    assert statuses(book)[V] is Status.VALID
    assert not ours.stats.get("dust/doubted")
    assert len(ours.asked) < len(plain.asked) * 0.8


def test_a_rule_that_holds_everywhere_is_soon_in_force_in_a_new_section(tmp_path):
    lost, plain, ours, book = both(tmp_path, of_sections(lambda path: False), V, before=(OnlyA,))
    assert not lost
    assert statuses(book)[V] is Status.VALID
    assert len(ours.asked) < len(plain.asked) * 0.6


def test_a_rule_that_is_true_of_nearly_all_pages_loses_no_more_than_is_risked(tmp_path):
    def web(asked: Asked) -> Answer:
        if asked.path == "/":
            return index(*listed(f"/p/{n}?v={v}" for n in range(100) for v in (1, 2, 3)))
        return page(asked.url if asked.path in ("/p/17", "/p/71") else asked.path)

    lost, plain, _, _ = both(tmp_path, web, V)
    assert len(lost) <= 0.04 * len(plain.items)
