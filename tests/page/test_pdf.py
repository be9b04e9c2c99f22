from __future__ import annotations

import zlib

import pytest

from scrapy_dust.page import pdf
from scrapy_dust.page.sketch import describe

pytest.importorskip("pypdfium2", reason="pypdfium2 is not installed")


def document(*contents, title=b"A  title", note=b""):
    """A PDF of one page for each of *contents*, which are a page's operators."""
    count = len(contents)
    kids = b" ".join(b"%d 0 R" % (5 + 2 * i) for i in range(count))
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[%s]/Count %d>>" % (kids, count),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        b"<</Title(%s)/Note(%s)>>" % (title, note),
    ]
    for i, content in enumerate(contents):
        packed = zlib.compress(content)
        objects += [
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents %d 0 R"
            b"/Resources<</Font<</F1 3 0 R>>>>>>" % (6 + 2 * i),
            b"<</Length %d/Filter/FlateDecode>>\nstream\n%s\nendstream" % (len(packed), packed),
        ]
    found, offsets = b"%PDF-1.4\n", []
    for number, one in enumerate(objects, 1):
        offsets.append(len(found))
        found += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size, start = len(objects) + 1, len(found)
    return found + (
        b"xref\n0 %d\n0000000000 65535 f \n%strailer<</Size %d/Root 1 0 R/Info 4 0 R>>\nstartxref\n%d\n%%%%EOF"
        % (size, table, size, start)
    )


def shown(text):
    return b"BT /F1 12 Tf 72 720 Td (%s) Tj ET" % text


def page(body, content_type="application/pdf"):
    return describe(body, content_type, None, "http://site.test/")


@pytest.mark.parametrize("content_type", ["application/pdf", "Application/PDF; q=1", None, ""])
def test_a_pdf_is_its_words_and_title(content_type):
    found = page(document(shown(b"one two"), shown(b"three")), content_type)
    assert (found.words, found.title, found.outlinks) == (3, "A title", None)
    assert (
        found.text_digest
        == describe(b"<title>A title</title>one two three", "text/html", None, "").text_digest
    )


def test_pdfs_of_the_same_text_say_the_same():
    one, other = (page(document(shown(b"the same words"), note=note)) for note in (b"1", b"2"))
    assert one.digest != other.digest
    assert (one.text_digest, one.sketch) == (other.text_digest, other.sketch)


@pytest.mark.parametrize(
    "body", [b"", b"%PDF-1.4", b"no PDF", document(shown(b"words"))[:200], document(b"")]
)
def test_what_gives_no_words_is_judged_by_its_bytes(body):
    found = page(body)
    assert found.words == 0
    assert found.text_digest == found.digest


def test_a_pdf_of_more_pages_than_are_read_has_the_digest_of_its_bytes(monkeypatch):
    monkeypatch.setattr(pdf, "MAX_PAGES", 1)
    found = page(document(shown(b"one two"), shown(b"three")))
    assert found.words == 2
    assert found.text_digest == found.digest


def test_a_large_pdf_is_not_read(monkeypatch):
    monkeypatch.setattr(pdf, "MAX_PDF_BYTES", 100)
    assert page(document(shown(b"words"))).words == 0


@pytest.mark.once
def test_a_pdf_that_takes_too_long_is_judged_by_its_bytes(monkeypatch):
    monkeypatch.setattr(pdf, "SECONDS", 1)
    monkeypatch.setattr(pdf, "MEMORY", 1 << 29)
    found = page(document(b"BT /F1 12 Tf " + b"(Hello) Tj " * 2_000_000 + b"ET"))
    assert found.words == 0
    assert found.text_digest == found.digest


def test_without_the_library_a_pdf_is_judged_by_its_bytes(monkeypatch):
    monkeypatch.setattr(pdf, "_is_installed", lambda: False)
    found = page(document(shown(b"words")))
    assert found.words == 0
    assert found.text_digest == found.digest
