from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.propose.dustbuster import token_arrays as reading
from scrapy_dust.propose.dustbuster import tokenizing
from scrapy_dust.propose.dustbuster.token_arrays import END, START, tokens_of
from scrapy_dust.url.tokens import is_token_boundary, tokenize
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


ascii_urls = st.text(st.sampled_from("ab1/^$.\n"), max_size=30) | st.text(st.characters(max_codepoint=127))


@given(st.lists(ascii_urls, min_size=1, max_size=8), st.sampled_from((tokenizing._MIXED, 0, 1 << 63)))
def test_urls_that_are_read_all_at_once_have_the_same_tokens(urls, mixed):
    with pytest.MonkeyPatch.context() as patch:
        singly = tokens_of(urls)
        patch.setattr(reading, "_FEW", 1)
        patch.setattr(tokenizing, "_MIXED", type(tokenizing._MIXED)(mixed))
        at_once = tokens_of(urls)
    assert at_once.offsets.tolist() == singly.offsets.tolist()
    assert len(set(at_once.vocabulary[2:])) == len(at_once.vocabulary) - 2
    texts = [[found.vocabulary[number] for number in found.ids] for found in (at_once, singly)]
    assert texts[0] == texts[1]
    assert ((at_once.ids < 2) == (singly.ids < 2)).all()


@given(scraps(), scraps())
def test_a_boundary_is_where_two_texts_keep_their_tokens(left, right):
    apart = tokenize(left) + tokenize(right) == tokenize(left + right)
    assert is_token_boundary(left[-1:], right[:1]) == apart
