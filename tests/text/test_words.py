from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.text import words
from scrapy_dust.text.words import split_words


@given(st.text(st.characters(max_codepoint=0x24F)))
def test_words_are_what_stands_between_white_space(text):
    assert split_words(text) == (text.split(), True)


@given(st.text())
def test_words_hold_every_character_but_white_space_in_order(text):
    found, _ = split_words(text)
    assert "".join(found) == "".join(text.split())


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
    assert split_words(text) == (expected, True)


@pytest.mark.parametrize("text", ["a b c", "中文字"])
def test_words_beyond_the_limit_are_left_out_and_that_is_said(monkeypatch, text):
    monkeypatch.setattr(words, "MAX_WORDS", 2)
    assert split_words(text) == (list(text.replace(" ", ""))[:2], False)
    monkeypatch.setattr(words, "MAX_WORDS", 3)
    assert split_words(text)[1]


@given(st.text(st.sampled_from("aé \u0dff\u0e00\u0eff\u2019\u3000\u3001一\ud83d\ud800\U00020000😀")))
def test_the_short_way_finds_scripts_without_spaces_where_the_pattern_does(text):
    assert words._has_unspaced(text) == (words._ANY_UNSPACED.search(text) is not None)
