"""Why what is fetched twice is fetched twice."""

from __future__ import annotations

from scrapy_dust.learners.leftovers import Left, leftovers

HOST = "http://a.example"


def left_of(*groups, images=(), key=str):
    truth = {f"{HOST}/{url}": number for number, group in enumerate(groups) for url in group}
    return leftovers(list(truth), truth, key, [f"{HOST}/{url}" for url in images])


def test_what_one_edit_would_tell_of_several_pages_is_a_rule():
    assert left_of(*([f"p/{n}", f"p/{n}?print=1"] for n in range(3))) == {Left.RULE: 3}


def test_what_would_make_one_of_more_pages_that_differ_is_no_rule():
    programs = [[f"man?{name}", f"man?{name[::-1]}"] for name in ("tar", "ssh", "awk", "sed")]
    assert left_of(*programs, *([f"man?{name}"] for name in ("ls", "cp", "mv"))) == {Left.OTHER: 4}


def test_a_file_of_the_same_name_elsewhere_is_a_copy():
    assert left_of(["2008/x/plan.html", "old/plan.html"]) == {Left.COPY: 1}


def test_one_answer_to_whatever_is_asked_for_is_a_soft_error():
    assert left_of([f"{n}/{n * 7}" for n in range(9)]) == {Left.ERROR: 8}


def test_an_image_is_an_image_and_the_rest_is_the_rest():
    assert left_of(["a/dot.gif", "b/point.gif"], ["c", "d?x=1"], images=["b/point.gif"]) == {
        Left.IMAGE: 1,
        Left.OTHER: 1,
    }


def test_what_is_not_fetched_is_not_left():
    assert left_of(["p", "p?x=1"], key=lambda url: url.partition("?")[0]) == {}
