from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.propose.dustbuster.likely_parameters import detect_likely_parameters, parameters
from scrapy_dust.propose.dustbuster.likely_rules import LikelyParameter
from scrapy_dust.propose.dustbuster.sketches import Similar, likeness_of
from scrapy_dust.rules.parameters import DropParameter, SetParameter
from scrapy_dust.rules.rule import Rule
from scrapy_dust.visits.pages import Page
from tests.strategies import logs, pages_of

modes = st.sampled_from((Similar.SKETCH, Similar.SIZE, Similar.NONE))


def likely(pages: Sequence[Page], similar: Similar = Similar.SKETCH, least: int = 3) -> list[LikelyParameter]:
    return detect_likely_parameters(pages, likeness_of(pages, similar), least)


def page(url: str, shown: Any) -> Page:
    return Page(url, sketch=(crc32(repr(shown).encode()),) * 4)


FORMS = (
    "http://a.example/view?id={id}&sid={sid}",
    "http://a.example/view?sid={sid}&id={id}",
    "http://a.example/view?id={id};sid={sid}",
    "http://a.example/view/{id}?sid={sid}",
    "http://a.example/view/{id};sid={sid}",
    "http://a.example/view/{id};sid={sid}/part",
    "http://a.example/view?id={id}&sid={sid}#top",
)


@pytest.mark.parametrize("form", FORMS)
def test_a_session_id_is_found_however_the_site_writes_it(form):
    pages = [page(form.format(id=n, sid=s), n) for n in range(4) for s in ("x1", "x2", "x3")]
    found = likely(pages)
    assert [one.rules[0] for one in found] == [Rule.of(DropParameter("sid"))]
    assert found[0].rules == (Rule.of(DropParameter("sid")), Rule.of(SetParameter("sid", "x1")))


@pytest.mark.parametrize("form", FORMS)
def test_more_values_than_any_bucket_admits_are_found_all_the_same(form):
    pages = [page(form.format(id=1, sid=s), 1) for s in range(500)]
    assert [one.rules[0].dropped_parameter for one in likely(pages)] == ["sid"]


def test_a_parameter_that_makes_the_page_is_not_likely():
    pages = [page(f"http://a.example/view?id={n}&sid=1", n) for n in range(20)]
    assert likely(pages) == []


def test_a_parameter_that_is_there_or_not_is_found():
    pages = [page(f"http://a.example/view?id={n}{sid}", n) for n in range(4) for sid in ("", "&print=1")]
    assert [one.rules[0] for one in likely(pages)] == [Rule.of(DropParameter("print"))]


def test_pages_that_differ_in_two_parameters_say_nothing_of_either():
    pages = [page(f"http://a.example/view?a={n}&b={n}", "same") for n in range(20)]
    assert likely(pages) == []


def test_the_fixed_value_is_the_most_frequent_one():
    pages = [page(f"http://a.example/{n}?sort={sort}", n) for n in range(4) for sort in ("up", "down")]
    pages += [page(f"http://a.example/{n}?sort=up&x=1", "x") for n in range(9, 12)]
    assert likely(pages)[0].rules[1] == Rule.of(SetParameter("sort", "up"))


def test_a_parameter_is_a_candidate_while_no_more_pairs_differ_than_agree():
    def pages(agreeing: int, differing: int) -> list[Page]:
        shown = [(n, "same") for n in range(agreeing)] + [
            (n, None) for n in range(agreeing, agreeing + differing)
        ]
        return [page(f"http://a.example/{n}?s={s}", of or (n, s)) for n, of in shown for s in (1, 2)]

    assert [one.support for one in likely(pages(3, 3))] == [3]
    assert likely(pages(3, 4)) == []
    assert likely(pages(2, 0)) == []


@given(logs(), modes, st.integers(1, 3))
def test_candidates_are_parameters_of_the_site_with_pairs_enough(log, similar, least):
    pages = pages_of(log)
    values: dict[str, Counter[str]] = {}
    for url in (known.url for known in pages):
        for parameter in parameters(url):
            values.setdefault(parameter.name, Counter())[url[parameter.value_begin : parameter.end]] += 1
    found = likely(pages, similar, least)
    assert [-one.support for one in found] == sorted(-one.support for one in found)
    assert len({one.rules[0].dropped_parameter for one in found}) == len(found)
    for one in found:
        omission, fixed = one.rules
        assert omission == Rule.of(DropParameter(omission.dropped_parameter))
        assert fixed.fixed_value_operation.name == omission.dropped_parameter
        of_name = values[fixed.fixed_value_operation.name]
        assert of_name[fixed.fixed_value_operation.value] == max(of_name.values())
        assert one.support >= least


@given(logs(), modes, st.integers(1, 3))
def test_every_pair_that_counts_gets_one_form_by_leaving_the_parameter_out(log, similar, least):
    """So no more pairs can be likely similar than there are pages that become one."""
    pages = pages_of(log)
    likeness = likeness_of(pages, similar)
    for one in likely(pages, similar, least):
        forms: dict[str, list[int]] = {}
        for number, known in enumerate(pages):
            forms.setdefault(one.rules[0].apply(known.url), []).append(number)
        alike = 0
        for members in forms.values():
            a, b = (np.array(side) for side in np.triu_indices(len(members), 1))
            of = np.array(members)
            alike += int(likeness.likely(of[a], of[b]).sum())
        assert one.support <= alike
