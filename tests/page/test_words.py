from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_dust.page import words
from scrapy_dust.page.words import split_words


@given(st.text(st.characters(max_codepoint=0x24F)))
def test_words_are_what_stands_between_white_space(text):
    assert split_words(text) == ([word.encode() for word in text.split()], True)


@given(st.text())
def test_words_hold_every_character_but_white_space_in_order(text):
    found, _ = split_words(text)
    assert b"".join(found) == "".join(text.split()).encode()


def test_every_white_space_of_unicode_ends_a_word():
    spaces = [chr(code) for code in range(0x110000) if chr(code).isspace()]
    assert len(spaces) > 20
    for space in spaces:
        assert split_words(f"a{space}b") == ([b"a", b"b"], True)
        assert split_words(f"é{space}b") == (["é".encode(), b"b"], True)


def test_half_a_surrogate_pair_is_a_character_like_another():
    assert split_words("a \ud83d") == ([b"a", "\ud83d".encode("utf-8", "surrogatepass")], True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("我们去Peking吧 now", ["我", "们", "去", "Peking", "吧", "now"]),
        ("ひらカナ", ["ひ", "ら", "カ", "ナ"]),
        ("สวัส", ["ส", "ว", "ั", "ส"]),
        ("ខ្មែ", ["ខ", "្", "ម", "ែ"]),
        ("ລາວ", ["ລ", "າ", "ວ"]),
        ("𠀀𠀁", ["𠀀", "𠀁"]),
        ("한국어 문장", ["한국어", "문장"]),
        ("a\u3000b\xa0c", ["a", "b", "c"]),
    ],
)
def test_a_character_is_a_word_in_scripts_without_spaces_only(text, expected):
    assert split_words(text) == ([word.encode() for word in expected], True)


@pytest.mark.parametrize("text", ["a b c", "中文字"])
def test_words_beyond_the_limit_are_left_out_and_that_is_said(monkeypatch, text):
    monkeypatch.setattr(words, "MAX_WORDS", 2)
    assert split_words(text) == ([letter.encode() for letter in text.replace(" ", "")][:2], False)
    monkeypatch.setattr(words, "MAX_WORDS", 3)
    assert split_words(text)[1]


@given(
    st.text(
        st.sampled_from(
            [chr(ord(edge) + step) for edge in words._UNSPACED if edge != "-" for step in (-1, 0, 1)]
        )
    )
)
@example("\ud7ff")
@example("\ue000")
def test_where_blocks_of_such_scripts_begin_and_end(text):
    assert words.has_unspaced(text) == any(map(words._ANY_UNSPACED.search, text))


@given(st.text(st.sampled_from("aé \u0dff\u0e00\u0eff\u2019\u3000\u3001一\ud83d\ud800\U00020000😀")))
def test_the_short_way_finds_scripts_without_spaces_where_the_pattern_does(text):
    assert words.has_unspaced(text) == (words._ANY_UNSPACED.search(text) is not None)
