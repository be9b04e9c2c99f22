from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.page.encodings import decode

CYRILLIC = "Привет"


def text_of(body, content_type=None, encoding=None, *, markup=True):
    return decode(body, content_type, encoding, markup=markup)[0]


@pytest.mark.parametrize("label", ["windows-1251", "koi8-r", "utf-16-le", "UTF-8", "iso-8859-5", "cp866"])
def test_a_declared_encoding_is_used(label):
    body = CYRILLIC.encode(label)
    assert text_of(body, f"text/html; charset={label}") == CYRILLIC
    assert text_of(body, None, label) == CYRILLIC


def test_a_mark_beats_the_caller_who_beats_the_header_which_beats_the_document():
    inside = '<meta charset="koi8-r">'
    body = (inside + CYRILLIC).encode("koi8-r")
    assert text_of(body) == inside + CYRILLIC
    body = (inside + CYRILLIC).encode("cp1251")
    assert text_of(body, "text/html; charset=windows-1251") == inside + CYRILLIC
    assert text_of(body, "text/html; charset=koi8-r", "windows-1251") == inside + CYRILLIC
    for mark, name in ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le")):
        assert text_of(mark + CYRILLIC.encode(name), "text/html; charset=koi8-r", "cp1251") == CYRILLIC


def test_only_markup_is_searched_for_a_declaration():
    body = b'<?xml version="1.0" encoding="windows-1251"?>' + CYRILLIC.encode("cp1251")
    assert CYRILLIC in text_of(body)
    assert CYRILLIC not in text_of(body, markup=False)


def test_what_declares_nothing_is_utf8_and_never_guessed():
    russian = "Съешь же ещё этих мягких французских булок, да выпей чаю. " * 50
    assert text_of(russian.encode()) == russian
    assert text_of(russian.encode("cp1251")) != russian


@pytest.mark.parametrize(("name", "one", "other"), [("cp1251", "синий", "белый"), ("gbk", "红色", "蓝色")])
@pytest.mark.parametrize("content_type", [None, "text/html; charset=utf-8"])
def test_bytes_that_cannot_be_decoded_tell_texts_apart(name, one, other, content_type):
    """As where old sites declare nothing, or another encoding than they use."""
    texts = [text_of(said.encode(name), content_type) for said in (one, other)]
    assert texts[0] != texts[1]
    assert all(text.isalpha() for text in texts)


@pytest.mark.parametrize(
    "label",
    ["utf-7", "unicode_escape", "idna", "punycode", "base64", "rot13", "mbcs", "undefined", "nonsense", ""],
)
def test_what_is_no_encoding_of_web_pages_is_ignored(label):
    body = f'<meta charset="{label}">é'.encode()
    assert text_of(body, f"text/html; charset={label}", label).endswith("é")


def test_a_document_whose_declaration_can_be_read_is_not_utf16():
    assert text_of('<meta charset="utf-16">é'.encode()).endswith("é")


@given(st.binary(), st.none() | st.text(), st.none() | st.text(), st.booleans())
def test_no_input_is_too_strange(body, content_type, encoding, markup):
    text, used = decode(body, content_type, encoding, markup=markup)
    assert isinstance(text, str)
    codecs.lookup(used)
