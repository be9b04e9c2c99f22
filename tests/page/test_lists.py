"""Pages from which a spider takes links only, or a heading and links: told by where they lead."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from scrapy_dust.page.site_log import comparison_of, site_log
from scrapy_dust.page.taking import Taken
from scrapy_dust.page.units import pack, units_of
from scrapy_dust.visits.pages import Visit

SITE = "http://s.example"


def visits(path: str, item: Mapping[str, object] | None, links: Iterable[str] = ()) -> list[Visit]:
    """The two records of a page."""
    taken = Taken(SITE + path)
    if item is not None:
        taken.add_item("Product", {**item, "url": SITE + path})
    for link in links:
        taken.add_request("parse", SITE + link, {})
    return [Visit(SITE + path, 200, size=(9, 9)), Visit(SITE + path, 200, taken=pack(units_of(taken.units)))]


def labels(*pages: list[Visit]) -> dict[str, str | None]:
    log = site_log([visit for page in pages for visit in page], same="items")
    return {page.url.removeprefix(SITE): page.text_digest for page in log.pages}


def products(*sids: str, count: int = 6) -> list[list[Visit]]:
    return [visits(f"/p{n}?s={sid}", {"name": f"tea {n}"}) for sid in sids for n in range(count)]


def shelf(number: int, sid: str) -> list[Visit]:
    """Two products each."""
    return visits(f"/shelf{number}?s={sid}", None, [f"/p{2 * number + n}?s={sid}" for n in range(2)])


def test_lists_are_one_that_lead_to_the_same_items():
    found = labels(*products("a", "b"), *(shelf(n, sid) for n in range(3) for sid in "ab"))
    for number in range(3):
        assert found[f"/shelf{number}?s=a"] == found[f"/shelf{number}?s=b"] is not None
    assert len({found[f"/shelf{number}?s=a"] for number in range(3)}) == 3


def test_lists_of_lists_are_one_that_lead_to_the_same_lists():
    halls = [
        visits(f"/hall{n}?s={sid}", None, [f"/shelf{n}?s={sid}", f"/shelf{n + 1}?s={sid}"])
        for n in range(2)
        for sid in "ab"
    ]
    found = labels(*products("a", "b"), *(shelf(n, sid) for n in range(3) for sid in "ab"), *halls)
    assert found["/hall0?s=a"] == found["/hall0?s=b"] != found["/hall1?s=a"]


def test_links_to_parts_of_a_list_that_all_have_its_heading_do_not_lead_to_the_same():
    """Each part has the heading, and other products; an index leads to one part or the other."""
    parts = [
        visits(f"/list?part={n}", {"name": "teas"}, [f"/p{2 * n}?s=a", f"/p{2 * n + 1}?s=a"])
        for n in range(3)
    ]
    indexes = [visits(f"/index?part={n}", None, [f"/list?part={n}"]) for n in range(3)]
    found = labels(*products("a"), *parts, *indexes)
    assert len({found[f"/list?part={n}"] for n in range(3)}) == 3
    assert len({found[f"/index?part={n}"] for n in range(3)}) == 3


def test_a_link_that_nobody_followed_leaves_two_lists_open():
    pages = [visits(f"/shelf?s={sid}", {"name": "teas"}, [f"/unseen?s={sid}"]) for sid in "ab"]
    log = site_log([visit for page in [*products("a"), *pages] for visit in page], same="items")
    compared = comparison_of(log)
    assert compared is not None
    outcome, _ = compared.compare(f"{SITE}/shelf?s=a", f"{SITE}/shelf?s=b")
    assert str(outcome) == "unknown"


def test_a_page_of_which_nothing_is_known_to_be_taken_has_no_label():
    (only,) = site_log([Visit(f"{SITE}/a", 200, text_digest="x", sketch=(1, 2, 3, 4))], same="items").pages
    assert (only.text_digest, only.sketch) == (None, None)
