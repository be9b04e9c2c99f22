"""Signatures of pages: equal where pages are, and nowhere else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.text.content import content_of, signature_of
from tests.prose import document

HTML = "text/html; charset=utf-8"


def content(body, kind=HTML, scope="a.test"):
    return content_of(body, kind, None, "http://a.test/x", scope)


def test_words_title_and_pictures_make_the_text():
    page = content(document(1))
    assert page.text == content(document(1, more="<!-- x --><b></b>")).text
    different = [
        document(2),
        document(1, title="Another"),
        document(1, more="word"),
        document(1, more="<img src=a.png>"),
        document(1, more="<img data-src=a.png>"),
        document(1, more="<iframe src=/frame>"),
    ]
    texts = [content(one).text for one in different]
    assert page.text not in texts
    assert len(set(texts)) == len(texts)
    assert content(document(1), scope="b.test").text != page.text


def test_a_picture_is_the_same_from_whichever_host_it_comes():
    shown = [
        content(
            document(1, more=f"<img src={host}/a.png?s=6 srcset='{host}/a.png 1x, {host}/b.png 2x'>")
        ).text
        for host in ("http://0.cdn.test", "https://1.cdn.test", "//2.cdn.test")
    ]
    assert len(set(shown)) == 1
    assert content(document(1, more="<img src=//0.cdn.test/b.png>")).text not in shown


@given(st.binary(max_size=50), st.binary(max_size=50), st.sampled_from("ab"), st.sampled_from("ab"))
def test_bytes_are_equal_within_a_scope_only(a, b, scope, other):
    assert (signature_of(a, scope) == signature_of(b, other)) is ((a, scope) == (b, other))


def test_headings_are_part_of_what_must_not_differ():
    plain, headed = content(document(1)), content(document(1, more="<h1>Red</h1>"))
    assert plain.heading == "Page 1"
    assert headed.heading == "Page 1 Red"
    assert plain.heading_hash != headed.heading_hash
    assert content(b"some words", "text/plain").heading_hash == 0


@pytest.mark.parametrize(
    ("body", "kind", "is_text"),
    [
        (b"\0\1\2" * 100, "application/zip", False),
        (b"%PDF-1.4 something", "application/pdf", False),
        (b"<html></html>", HTML, True),
        (b"", HTML, True),
        (b"word " * 600_000, "text/plain", False),  # not read to its end
        (b"<div>" * 13_000 + b"words", HTML, True),  # not parsed, so that pictures are not known
    ],
)
def test_what_words_do_not_vouch_for_has_its_bytes_only(body, kind, is_text):
    page = content(body, kind)
    assert page.text is None
    assert page.is_text is is_text


@given(st.binary(max_size=400), st.sampled_from([HTML, "", "text/plain", "application/json"]))
def test_any_body_can_be_looked_at(body, kind):
    content(body, kind)
