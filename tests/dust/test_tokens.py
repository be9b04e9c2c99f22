from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.dust.tokens import END, START, is_token_boundary, tokenize, tokens_of
from tests import oracle
from tests.strategies import any_urls, scraps


@given(any_urls())
def test_tokens_put_together_are_the_url(url):
    assert "".join(tokenize(url)) == url


@given(any_urls())
def test_tokens_are_those_of_the_paper(url):
    assert tuple(tokenize(url)) == oracle.tokens_of(url)


@pytest.mark.parametrize(
    ("url", "tokens"),
    [
        ("", []),
        ("http://a.b/c1", ["http", ":", "/", "/", "a", ".", "b", "/", "c1"]),
        ("story_12", ["story", "_", "12"]),
        ("x1y2", ["x1y2"]),
        ("é1٣ß", ["é", "1", "٣", "ß"]),
        ("^a$", ["^", "a", "$"]),
        ("a\nb", ["a", "\n", "b"]),
        ("😀😀", ["😀", "😀"]),
    ],
)
def test_a_token_is_a_run_of_ascii_letters_and_digits_or_one_other_character(url, tokens):
    assert tokenize(url) == tokens


@given(st.lists(any_urls(), max_size=6))
def test_the_array_holds_every_url_between_its_anchors(urls):
    tokens = tokens_of(urls)
    assert len(tokens) == len(urls)
    for number, url in enumerate(urls):
        begin, end = int(tokens.offsets[number]), int(tokens.offsets[number + 1])
        assert tokens.ids[begin] == START
        assert tokens.ids[end - 1] == END
        assert "".join(tokens.vocabulary[number] for number in tokens.ids[begin:end]) == url
        assert tokens.lengths()[number] == end - begin == len(oracle.url_tokens(url))


@given(st.lists(scraps("^$a", 5), min_size=1, max_size=4))
def test_a_literal_caret_or_dollar_is_never_an_anchor(urls):
    tokens = tokens_of(urls)
    inner = [
        int(token)
        for number in range(len(urls))
        for token in tokens.ids[tokens.offsets[number] + 1 : tokens.offsets[number + 1] - 1]
    ]
    assert START not in inner
    assert END not in inner


@given(st.lists(any_urls(), max_size=5))
def test_equal_ids_are_equal_tokens(urls):
    tokens = tokens_of(urls)
    assert len(set(tokens.vocabulary[2:])) == len(tokens.vocabulary) - 2
    flat = [token for url in urls for token in oracle.url_tokens(url)]
    texts = ["" if token in (oracle.START, oracle.END) else token for token in flat]
    assert [tokens.vocabulary[token] for token in tokens.ids] == texts


@given(scraps(), scraps())
def test_a_boundary_is_where_two_texts_keep_their_tokens(left, right):
    apart = tokenize(left) + tokenize(right) == tokenize(left + right)
    assert is_token_boundary(left[-1:], right[:1]) == apart
