"""Sites made up to make us lose an item, or put a real section last."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.crawl import trapping
from scrapy_dust.crawl.canary_draw import Draw
from scrapy_dust.traps.budget import Budget
from scrapy_dust.traps.ending import Page, Pool, Row, Shown
from scrapy_dust.traps.forms import Form
from scrapy_dust.traps.ledger import Ledger
from scrapy_dust.traps.novelty import MOST
from tests.traps.drawn import Drawn
from tests.traps.drawn_shops import Shop
from tests.traps.seeming import ENDLESS, FINITE
from tests.traps.simulating import simulate
from tests.traps.sites import HOST, Facets, Site, calendar_by_path, chain, trapped, words

pytestmark = pytest.mark.once

#: Fewer pages in a row end a form: more is lost by what is wrong.
SOON = {"DUST_TRAPS": "cap", "DUST_MAX_RISK": 0.1}

CAP = {"DUST_TRAPS": "cap"}


def both(trap, entrance, most=6000, items=40, **settings):
    """What plain Scrapy finds without a budget, and what is found with ours."""
    plain = simulate(Site(trap, entrance, items), None, most)
    return plain, lambda folder: simulate(Site(trap, entrance, items), folder, most, **settings)


def lists_and_details_under_one_path(path, query):
    if not path.startswith("/view"):
        return None
    if "id" in query:
        return f"{words(path, 20)}", [], f"detail {query['id']}"
    chosen = int(query.get("cat", 0))
    if not chosen:
        return "Categories", [f"/view?cat={n}" for n in range(1, 4)], ""
    return f"Category {chosen}", [f"/view?cat={chosen}&id={chosen * 1000 + n}" for n in range(100)], ""


def shells(path, query):
    """Nothing but a script's data tells pages apart, and only every tenth one has a link to an item."""
    if not path.startswith("/app/"):
        return None
    name = path.rpartition("/")[2]
    if name.startswith("i"):
        return "<script>render()</script>", [], f"app {name}"
    number = int(name)
    links = [f"/app/{number + 1}"] if number < 400 else []
    links += [f"/app/i{number}"] if number % 10 == 0 else []
    return f'<script>render({{"state": {number * 7919 % 100_003}}})</script>', links, ""


def cut_lists(path, query):
    """Lists show twelve things and no more: most are in selections by several filters only."""
    if not path.startswith("/find"):
        return None
    if "id" in query:
        return words(path, 10), [], f"found {query['id']}"
    chosen = {name: query[name] for name in sorted(query) if name.startswith("f")}

    def is_in(number):
        return all(str(random.Random(f"{number} {name}").randrange(3)) == chosen[name] for name in chosen)

    found = [f"/find?id={n}" for n in range(300) if is_in(n)][:12]
    filters = [{**chosen, f"f{one}": str(value)} for one in "abcd" for value in range(3)]
    return (
        "Things",
        ["/find?" + "&".join(f"{k}={v}" for k, v in sorted(one.items())) for one in filters] + found,
        "",
    )


def long_list(following):
    """A list of 500 things in a hundred pages, each linked by the eight before. Brands show all things but those of the last pages."""

    def shown(path, query):
        if path.startswith("/goods/"):
            return words(path, 10), ["/all"], f"goods {path.rpartition('/')[2]}"
        front, _, last = path.partition("?")[0][1:].partition("/")
        if front == "brand":
            return f"Brand {last}", [f"/goods/{n}" for n in range(int(last), 480, 8)], ""
        if front != "all":
            return None
        number = int(query.get("page", last or 1))
        links = [following.format(n) for n in range(number + 1, number + 9) if n <= 100]
        links += [f"/goods/{n}" for n in range(number * 5 - 5, number * 5)]
        links += [f"/brand/{n}" for n in range(8)]
        return f"Page {number}", links, ""

    return shown


def sold_out(path, query):
    """Many pages of one form are empty, and come first; the others have an item each."""
    if not path.startswith("/lot/"):
        return None
    number = int(path.rpartition("/")[2])
    links = [f"/lot/{n}" for n in range(1, 501)] if number == 0 else []
    return "Sold out", links, f"lot {number}" if 0 < number <= 250 else ""


def tags(path, query):
    """Old posts are linked by tags alone, and most tags show posts that are known."""
    if path.startswith("/post/"):
        return words(path, 30), [], f"post {path.rpartition('/')[2]}"
    if path == "/tags":
        return "Tags", [f"/tag/{words(n, 1)}{'xyz'[n % 3]}" for n in range(200)], ""
    if not path.startswith("/tag/"):
        return None
    chance = random.Random(path)
    posts = [chance.randrange(30) for _ in range(5)] + (
        [chance.randrange(1000)] if chance.random() < 0.2 else []
    )
    return "Posts", [f"/post/{n}" for n in posts], ""


def files(path, query):
    """Of a download nothing is read."""
    if not path.startswith("/get/"):
        return None
    number = int(path.rpartition("/")[2])
    links = [f"/get/{number + 1}"] if number < 300 else []
    return f'<img src="/plot.png?series={number * 31}">', links, f"file {number}" if number % 50 == 0 else ""


def variants(path, query):
    """One thing in many variants, told apart by a number of their pages alone."""
    if not path.startswith("/variant"):
        return None
    size, colour = int(query.get("size", 0)), int(query.get("colour", 0))
    links = [f"/variant?colour={c}&size={s}" for c in range(12) for s in range(12)]
    return (
        f"A shirt for {(size * 12 + colour) * 7 % 1009} EUR",
        links,
        f"shirt {size} {colour}" if query else "",
    )


def events(path, query):
    """Among months and days there are events, some of them late."""
    if path.startswith("/event/"):
        return words(path, 10), [], path
    shown = calendar_by_path(path, query)
    if shown is None or not 2020 <= int(path.split("/")[2]) <= 2031:
        return None
    said, links, item = shown
    parts = path.split("/")[2:]
    more = [f"/event/{'-'.join(parts)}"] if len(parts) == 3 and random.Random(path).random() < 0.1 else []
    return said, [*links, *more], item


def hidden_versions(path, query):
    """A parameter that seems not to matter, and does for one page of ten."""
    if not path.startswith("/page/"):
        return None
    number, version = int(path.partition("?")[0].rpartition("/")[2]), query.get("v", "1")
    matters = number % 10 == 9 and version != "1"
    links = [f"/page/{n}?v={v}" for n in range(60) for v in (1, 2, 3)] if number == 0 else []
    return (
        words(f"{number} {version if matters else 1}", 20),
        links,
        f"page {number} {version if matters else 1}",
    )


def thin_people(path, query):
    """A page has a name, and its URL has it too."""
    if not path.startswith("/people"):
        return None
    name = path.removeprefix("/people").strip("/")
    links = (
        [f"/people/{words(n, 1, 100_000)}-{words(-n, 1, 100_000)}" for n in range(200)] if not name else []
    )
    return name.replace("-", " "), links, ""


ATTACKS = {
    "lists and details under one path": (lists_and_details_under_one_path, "/view"),
    "shells": (shells, "/app/1"),
    "cut lists": (cut_lists, "/find"),
    "sold out": (sold_out, "/lot/0"),
    "tags": (tags, "/tags"),
    "files": (files, "/get/1"),
    "variants": (variants, "/variant"),
    "events": (events, "/cal/2026/11"),
    "hidden versions": (hidden_versions, "/page/0"),
    "thin people": (thin_people, "/people"),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_last_fetches_all_that_plain_scrapy_does(tmp_path, name):
    trap, entrance = ATTACKS[name]
    plain, ours = both(trap, (entrance,))
    done = ours(tmp_path)
    assert done.items.keys() == plain.items.keys()
    assert set(done.pages) == set(plain.pages)
    assert not done.stats.get("dust/traps/errors")


@pytest.mark.parametrize("name", sorted(ATTACKS.keys() - {"cut lists"}))
def test_cap_loses_no_more_than_its_bound(tmp_path, name):
    trap, entrance = ATTACKS[name]
    plain, ours = both(trap, (entrance,), **CAP)
    assert len(plain.items.keys() - ours(tmp_path).items.keys()) <= 0.02 * len(plain.items)


@pytest.mark.usefixtures("_same_draw")
@pytest.mark.parametrize("following", ["/all?page={}", "/all/{}"])
def test_a_list_is_fetched_to_its_end_though_selections_have_shown_most_of_it(tmp_path, following):
    """Two URLs of the list wait at a time, so that a row of its pages says nothing of those behind them."""
    plain, ours = both(long_list(following), ("/all",), **SOON)
    done = ours(tmp_path)
    assert len(plain.items) == 540
    assert done.items.keys() == plain.items.keys()


@pytest.mark.usefixtures("_same_draw")
def test_a_calendar_whose_pages_show_known_things_ends_all_the_same(tmp_path):
    def trap(path, query):
        text, links, item = calendar_by_path(path, query) or ("", [], "")
        near = [f"/item/{random.Random(f'{path} {n}').randrange(40)}" for n in range(3)]
        return (text, [*links, *near], item) if text else None

    done = simulate(Site(trap, ("/cal/2026/11",), 40), tmp_path, 2000, **CAP)
    assert len(done.pages) < 2000
    assert done.items.keys() == Site(items=40).names


@pytest.mark.parametrize(
    ("name", "pages"), [("folders", 450), ("ways back", 450), ("text by chance", 550), ("versions", 700)]
)
def test_a_trap_of_many_forms_or_with_text_of_its_own_does_not_take_the_place_of_items(tmp_path, name, pages):
    done = simulate(trapped(name, items=200), tmp_path, pages)
    assert len(done.items) >= 190


def test_forms_that_lead_to_each_other_alone_have_no_credit_for_that(tmp_path):
    """Search pages under sessions lead to lists under sessions, and back: plain Scrapy finds six things."""
    assert len(simulate(trapped("questions", "in path", items=200), tmp_path, 1500).items) >= 100


def test_a_session_in_the_path_does_not_take_the_place_of_items(tmp_path):
    site = trapped("calendar by query", "in path", items=200)
    assert len(simulate(site, tmp_path, 450).items) >= 190


def test_a_form_that_only_a_trap_links_to_has_its_turn_when_a_real_page_links_to_it(tmp_path):
    ledger = Ledger()
    page = f"{HOST}/extra/1"
    assert ledger.place("s.test", page, of_a_trap=True).is_late
    assert ledger.place("s.test", page, of_a_trap=True).is_late
    assert not ledger.place("s.test", page).is_late


def test_links_to_what_never_comes_are_credit_for_a_while_only(tmp_path):
    """The lists have more links to texts than a crawl fetches, as a spider may want that gives lists a priority."""
    budget = Budget()
    lists, texts = (budget.account(Form(f"{HOST}/{name}/0")) for name in ("list", "text"))
    assert [budget.lends(lists, texts, 0) for _ in range(20)] == [True] * 12 + [False] * 8
    budget.came("s.test", texts, Page(MOST, items=1))
    assert budget.lends(lists, texts, 0)


def test_details_come_before_a_calendar(tmp_path):
    def trap(path, query):
        return lists_and_details_under_one_path(path, query) or calendar_by_path(path, query)

    done = simulate(Site(trap, ("/view", "/cal/2026/11"), 40), tmp_path, 500)
    assert sum(name.startswith("detail") for name in done.items) == 300


def test_a_wall_in_front_of_the_site_ends_nothing(tmp_path):
    class Walled(Site):
        def answer(self, url):
            shown = super().answer(url)
            return "<p>Please log in" if 150 < len(self.asked) < 700 else shown

    done = simulate(Walled(calendar_by_path, ("/cal/2026/11",), 400), tmp_path, 900, **SOON)
    assert not done.stats.get("dust/traps/capped") or len(done.pages) >= 700
    assert f"{HOST}/" in done.pages


@pytest.fixture
def _same_draw(monkeypatch):
    """What is drawn does not differ from run to run."""
    monkeypatch.setattr(trapping, "local_draw", lambda folder: Draw(b"k" * 32, "2026-11-20"))


@pytest.mark.usefixtures("_same_draw")
@pytest.mark.parametrize("name", FINITE)
def test_what_only_looks_endless_is_fetched(tmp_path, name):
    trap, entrance = FINITE[name]
    plain, ours = both(trap, (entrance,), **CAP)
    assert ours(tmp_path).items.keys() == plain.items.keys()


class Silent(Site):
    """A site of which the spider makes no items."""

    def answer(self, url):
        shown = super().answer(url)
        return shown and shown.replace('<h1 class="item">', "<h1>")


@pytest.mark.usefixtures("_same_draw")
@pytest.mark.parametrize("name", ["shops of some places alone", "a blog by days"])
def test_finds_below_pages_that_say_nothing_are_fetched_though_the_spider_makes_no_items(tmp_path, name):
    trap, entrance = FINITE[name]
    plain, ours = (
        simulate(Silent(trap, (entrance,)), folder, 6000, **settings)
        for folder, settings in ((None, {}), (tmp_path, CAP))
    )
    assert {url for url in plain.pages if "shop-" in url or "post-" in url} <= set(ours.pages)


@pytest.mark.usefixtures("_same_draw")
@pytest.mark.parametrize("seed", range(1, 9))
def test_sites_that_chance_has_drawn_lose_nothing_to_cap_and_give_a_budget_no_less(tmp_path, seed):
    drawn = Drawn(seed)
    capped = simulate(drawn.site(), tmp_path / "cap", 6000, **CAP)
    assert len(drawn.items - capped.items.keys()) <= 0.02 * len(drawn.items)
    assert len(capped.pages) < 6000
    budget = len(drawn.pages) // 2
    plain, last = (simulate(drawn.site(), folder, budget) for folder in (None, tmp_path / "last"))
    assert len(last.items) >= len(plain.items)


@pytest.mark.usefixtures("_same_draw")
@pytest.mark.parametrize("seed", [6, 12, 32, 34, 42])
def test_shops_that_chance_has_drawn_end_and_lose_nothing_to_cap(tmp_path, seed):
    shop = Shop(seed=seed)
    done = simulate(shop, tmp_path, 2000, **CAP)
    assert len(done.pages) < 1200
    assert done.items.keys() == shop.names


@pytest.mark.usefixtures("_same_draw")
@pytest.mark.parametrize(("name", "marks"), [("calendar by words, de", ""), ("endless ids", "sid6")])
def test_a_trap_ends_of_which_two_urls_wait_or_whose_links_have_session_ids(tmp_path, name, marks):
    """Of the calendar two URLs wait at a time. Links with session ids seem to lead from the endless ids to new lists."""
    done = simulate(trapped(name, marks), tmp_path, 2000, **CAP)
    assert len(done.pages) < 1300
    assert len(done.items) == 600


@pytest.mark.parametrize("secret", [38, 54])
def test_a_form_that_is_taken_up_again_is_not_fetched_whole(tmp_path, monkeypatch, secret):
    """With these secrets a page goes on with a list after thousands of its form were capped."""
    monkeypatch.setattr(trapping, "local_draw", lambda folder: Draw(bytes([secret]) * 32, "2026-11-20"))
    done = simulate(trapped("things compared"), tmp_path, 2000, **CAP)
    assert len(done.pages) < 1200
    assert len(done.items) == 600


def test_links_of_a_repeated_page_to_the_form_that_it_repeats_do_not_keep_repeats_from_their_end():
    budget = Budget(enough=9)
    form = Form(f"{HOST}/compare", ("ids",))
    first, again, other = (budget.account(one) for one in (form, form.again, Form(f"{HOST}/about").again))
    budget.came("s.test", first, Page(MOST, items=1))
    assert not budget.hopes("s.test", again, first)
    assert budget.hopes("s.test", other, first)


@pytest.mark.usefixtures("_same_draw")
@pytest.mark.parametrize("name", ENDLESS)
def test_what_has_no_end_comes_to_an_end_and_all_items_are_found(tmp_path, name):
    trap, entrance = ENDLESS[name]
    done = simulate(Site(trap, (entrance,), 40), tmp_path, 2000, **CAP)
    assert len(done.pages) < 2000
    assert done.items.keys() >= Site(items=40).names


@pytest.mark.usefixtures("_same_draw")
@pytest.mark.parametrize(("facets", "paged"), [(3, True), (3, False), (8, True), (8, False)])
def test_a_small_shop_with_filters_takes_three_times_the_least_at_most(tmp_path, facets, paged):
    shop = Facets(items=60, facets=facets, paged=paged)
    done = simulate(shop, tmp_path, 2000, **CAP)
    assert done.items.keys() == shop.names
    assert len(done.pages) <= 3 * shop.least


@pytest.mark.usefixtures("_same_draw")
@pytest.mark.parametrize("marks", ["sid6", "tracking"])
@pytest.mark.parametrize("name", ["calendar by query", "sort, page and view"])
def test_session_ids_and_tracking_cost_less_than_a_third_more(tmp_path, name, marks):
    plain, marked = (simulate(trapped(name, one), tmp_path / f"-{one}", 6000, **CAP) for one in ("", marks))
    assert len(marked.pages) <= 1.3 * len(plain.pages)
    assert marked.items.keys() == plain.items.keys()


def test_a_chain_of_texts_of_which_no_items_are_made_does_not_end_early(tmp_path):
    done = simulate(chain("forum", 150), tmp_path, 1000, **SOON)
    assert sum("/chain/" in url for url in done.pages) == 150


def test_things_that_one_selection_alone_has_shown_ask_for_a_longer_sample():
    shown = Shown()
    assert shown.show({1, 2, 3}, {1, 2, 3}) == {1, 2, 3}
    assert shown.may_have_more(enough=149)
    for things in ({1, 2}, {3}):
        shown.show(things, set())
    assert not shown.may_have_more(enough=149)


@given(st.integers(1, 30), st.lists(st.integers(0, 3), max_size=100), st.integers(0, 100))
def test_a_form_ends_while_more_wait_than_its_row_had_pages_or_not_at_all(enough, links, left):
    pool = Pool(enough)
    pool.queue.left = left
    for more in links:
        pool.queue.left += more - (pool.queue.left > 0)
        pool.queue.came += more
        pool.came(Page(0.0, anything=False), is_drawn=True)
        if pool.is_done:
            assert pool.barren >= enough
            assert pool.queue.left + sum(links[: pool.queue.went]) > pool.queue.went
            return
    assert len(links) < enough or pool.queue.left + pool.queue.came <= pool.queue.went


def test_a_form_that_has_ended_goes_on_when_it_brings_something_again():
    pool = Pool(2)
    pool.queue.left = 9
    for _ in range(2):
        pool.came(Page(0.0, anything=False), is_drawn=True)
    assert pool.is_done
    pool.came(Page(MOST, items=1), is_drawn=True)
    assert not pool.is_done


def test_a_thing_counts_as_a_look_a_few_times_and_what_all_pages_show_never():
    shown, row = Shown(), Row()
    for number in range(10):
        row.look(shown.show({7, 8, 100 + number}, set()))
    # A look for each page, one for each thing of its own, and for 7 and 8 on the first page.
    assert row.looks == 10 + 10 + 2
    row.begin_again()
    assert row.looks == 0
