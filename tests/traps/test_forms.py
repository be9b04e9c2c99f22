"""What URLs have in common."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.traps.forms import Form, Forms, kind_of, named


def of(*urls: str) -> list[str]:
    forms = Forms()
    return [forms.of(url).text for url in urls]


def test_numbers_and_ids_and_values_of_parameters_make_no_form() -> None:
    assert of("http://s.test/cal/2031/05?d=7&v=month#x") == ["http://s.test/cal/0/0?d&v"]
    assert len(set(of("http://s.test/s/a81f3c9e07?q=1", "http://s.test/s/9c04ab17de?q=2"))) == 1
    assert of("http://s.test/article12.html") == ["http://s.test/article0.html"]
    assert of("http://s.test/a/red-shoes.html") == ["http://s.test/a/~.html"]


def test_the_order_of_parameters_makes_no_form_and_how_often_one_stands_there_does_not_either() -> None:
    assert len(set(of("http://s.test/?a=1&b=2", "http://s.test/?b=1&a=2"))) == 1
    assert len(set(of("http://s.test/?q=&q=", "http://s.test/?q=&q=&q=&q=1"))) == 1


def test_parameters_of_a_path_are_parameters() -> None:
    assert of("http://s.test/p;jsessionid=1A?q=1") == ["http://s.test/p?jsessionid&q"]


def test_paths_that_repeat_themselves_have_one_form_below_the_top_of_a_site() -> None:
    here, there, once = of("http://s.test/a/b/a/b/a", "http://s.test/a/c/b/d/d", "http://s.test/a/b")
    assert here == there != once
    assert of("http://s.test/cal/05/05") == ["http://s.test/cal/0/0"]


def test_parts_of_a_path_with_an_id_are_named_by_their_place() -> None:
    parts = ["(S(4f2a90b1c37d55aa))", "p", "a81f3c9e07", "20261119", "red-shoes", "41F2aa"]
    assert [name for name, _ in named(parts)] == ["/0", "", "/2", "", "", "/5"]


def test_an_idle_part_of_a_path_does_not_count() -> None:
    forms = Forms()
    assert forms.of("http://s.test/(S(4f2a90b1c37d))/p/1", frozenset({"/0"})) == forms.of("http://s.test/p/1")


def test_a_word_stands_for_itself_until_there_are_many_in_its_place() -> None:
    months = of(*(f"http://s.test/cal/{chr(97 + n)}b/2031" for n in range(12)))
    assert len(set(months[:8])) == 8
    assert set(months[8:]) == {"http://s.test/cal/~/0"}


def test_a_section_of_the_site_stays_itself() -> None:
    forms = Forms()
    for n in range(10):
        forms.of(f"http://s.test/news/{n}")
    for n in range(40):
        forms.of(f"http://s.test/{'x' * (n + 1)}")
    assert forms.of("http://s.test/news/99").text == "http://s.test/news/0"
    assert forms.of("http://s.test/xxx").text == "http://s.test/~"


def test_idle_parameters_do_not_count() -> None:
    assert Forms().of("http://s.test/p?sid=1&id=2", frozenset({"sid"})) == Form("http://s.test/p", ("id",))


def test_a_form_of_repetitions_is_one_of_its_own() -> None:
    form = Forms().of("http://s.test/p/1")
    assert form.again.is_again
    assert form.again.again == form.again != form


@given(st.text(max_size=60), st.text(max_size=30))
def test_any_url_has_a_form_and_numbers_do_not_change_it(front: str, end: str) -> None:
    url = f"http://s.test/{front}"
    assert Forms().of(f"{url}/7?{end}").family == Forms().of(f"{url}/8?{end}").family


def test_kinds() -> None:
    assert kind_of("a81f3c9e07x") == "*"
    assert kind_of("page12") == "page0"
