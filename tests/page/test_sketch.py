from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xxhash import xxh3_128_hexdigest

from scrapy_dust.page import SKETCH_VERSION, reading, sketch, words
from scrapy_dust.page.sketch import describe

URL = "http://site.test/"
TEXT = " ".join(f"word{n}" for n in range(200))
PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(range(256))


def html(text=TEXT, title="Title", nonce=""):
    return f"<title>{title}</title><!--{nonce}--><p>{text}".encode()


def page(body, content_type="text/html", encoding=None):
    return describe(body, content_type, encoding, URL)


def test_copies_that_differ_outside_their_text_say_the_same():
    a, b = page(html(nonce="1")), page(html(nonce="2"))
    assert (a.sketch, a.text_digest, a.simhash, a.words) == (b.sketch, b.text_digest, b.simhash, 200)
    assert a.digest != b.digest


def test_a_text_under_another_title_has_another_text_digest_and_the_same_sketch():
    a, b = page(html(title="a")), page(html(title="b"))
    assert a.text_digest != b.text_digest
    assert a.sketch == b.sketch


def test_the_text_digest_is_of_the_words_between_single_spaces_and_the_title():
    assert page(b"<title> A\n b </title> x\t<p>y").text_digest == xxh3_128_hexdigest(b"x y\nA b")


def test_white_space_does_not_matter():
    assert page(html(TEXT.replace(" ", "\n  "))).text_digest == page(html()).text_digest


@pytest.mark.parametrize(
    "body", [b"", b"<html></html>", b"<script>a()</script>", b"<title>t</title><img src=a>", b" "]
)
def test_pages_without_a_word_are_alike_only_if_their_bytes_are(body):
    one, same, other = page(body), page(body), page(body + b"<!--x-->")
    assert one == same
    assert one.words == 0
    assert one.text_digest == one.digest
    assert not set(one.sketch) & set(other.sketch)
    assert one.text_digest != other.text_digest


def test_a_page_without_words_still_has_its_title_canonical_and_links():
    found = page(b"<html lang=en><title>t</title><link rel=canonical href=/c><a href=x><img></a>")
    assert (found.title, found.canonical, found.outlinks, found.language) == ("t", URL + "c", 1, "en")


@pytest.mark.parametrize(
    "content_type", ["image/png", "application/pdf", "application/octet-stream", "font/woff2"]
)
def test_other_types_are_judged_by_their_bytes(content_type):
    one, other = page(b"same words", content_type), page(b"same words ", content_type)
    assert one.words == 0
    assert one.text_digest == one.digest == xxh3_128_hexdigest(b"same words")
    assert not set(one.sketch) & set(other.sketch)


@pytest.mark.parametrize(
    "content_type", ["text/html", "text/plain", "application/json", None, "", "nonsense"]
)
@pytest.mark.parametrize("body", [PNG, gzip.compress(b"text", mtime=0)])
def test_bytes_under_a_texts_type_are_judged_by_their_bytes(content_type, body):
    assert page(body, content_type).words == 0


@pytest.mark.parametrize(
    "content_type",
    [
        *("text/plain", "text/css", "text/csv;charset=utf-8", "application/json", "application/ld+json"),
        *("application/xml", "application/rss+xml", "image/svg+xml", "application/javascript"),
    ],
)
def test_what_is_text_is_read_as_it_stands(content_type):
    found = page(b"<b>one</b> two <script>three</script>", content_type)
    assert found.words == 3
    assert (found.title, found.canonical, found.outlinks, found.language) == (None, None, None, None)


@pytest.mark.parametrize(
    ("body", "outlinks"),
    [
        (b" <!DOCTYPE html><a href=x>y", 1),
        (b"<HTML><a href=x>y", 1),
        (b"<!-- c --><p>y", 0),
        (b"1 < 2 words", None),
    ],
)
@pytest.mark.parametrize("content_type", [None, "", "unknown/unknown", "garbage"])
def test_without_a_type_the_first_tag_tells_markup(body, outlinks, content_type):
    assert page(body, content_type).outlinks == outlinks


def test_the_declared_encoding_decides_the_words():
    body = "naïve café".encode("latin-1")
    assert page(body, "text/html; charset=iso-8859-1").text_digest == page("naïve café".encode()).text_digest
    assert page(body, "text/html", "latin-1").text_digest == page("naïve café".encode()).text_digest
    assert page(body).text_digest != page("naïve café".encode()).text_digest


def test_a_changed_character_changes_little_of_a_text_without_spaces():
    text = "".join(chr(0x4E00 + n * 7 % 5000) for n in range(2000))
    one, other = page(html(text)), page(html(text[:1000] + "一" + text[1001:]))
    assert one.words == 2000
    shared = set(one.shingles.tolist()) & set(other.shingles.tolist())
    assert len(shared) == len(one.shingles) - 10


@pytest.mark.parametrize(("bound", "value"), [(reading, 100), (words, 10)])
def test_texts_not_read_to_their_end_have_the_digest_of_their_bytes(monkeypatch, bound, value):
    a, b = html(TEXT + " a"), html(TEXT + " b")
    monkeypatch.setattr(bound, "MAX_BYTES" if bound is reading else "MAX_WORDS", value)
    assert page(a).sketch == page(b).sketch
    assert page(a).text_digest == page(a).digest != page(b).text_digest


def test_the_cost_of_a_body_is_bounded():
    assert page(b"word " * 10_000_000, "text/plain").words <= words.MAX_WORDS


@given(
    st.binary() | st.text().map(str.encode),
    st.none()
    | st.text()
    | st.sampled_from(["text/html", "text/plain", "text/html; charset=utf-16", "image/png"]),
    st.none() | st.text() | st.sampled_from(["utf-8", "shift_jis", "idna"]),
    st.text() | st.just("http://[x"),
)
def test_no_input_is_too_strange_and_equal_input_has_equal_output(body, content_type, encoding, url):
    one, again = (describe(body, content_type, encoding, url) for _ in range(2))
    assert one == again
    assert one.shingles.tolist() == again.shingles.tolist() == sorted(set(one.shingles.tolist()))
    assert len(one.sketch) == 4
    assert all(0 <= part < 2**63 for part in one.sketch)
    assert len(one.simhash) == 16


def test_the_version_is_the_one_that_logs_say():
    assert sketch.SKETCH_VERSION == SKETCH_VERSION == 1
