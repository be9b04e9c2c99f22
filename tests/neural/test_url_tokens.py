"""URLs as the network reads them, and what becomes of what it says."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.neural.url_tokens import join_tokens, split_url
from scrapy_dust.neural.vocabulary import UNKNOWN, Vocabulary, vocabulary_of

PIECES = ["http:", "//", "/", "a.example", "a", "12", ".", "=", "?", "#", "&", ";", ",", ":80", "é", "\0"]
URLS = st.lists(st.sampled_from(PIECES), max_size=9).map("".join) | st.text(max_size=20)
ON_SITE = st.lists(st.sampled_from(PIECES), max_size=8).map(lambda rest: "http://a.example/" + "".join(rest))


@given(url=URLS | ON_SITE)
def test_whole_tokens_give_any_url_back(url):
    assert join_tokens(split_url(url, whole=True), whole=True) == url


def test_dynamic_delimiters_are_tokens_and_the_static_one_is_none():
    tokens = split_url("http://stackexchange.com/user/123/?sort=newest")
    assert tokens == ("http:", "stackexchange.com", "user", "123", "?", "sort", "=", "newest")
    assert join_tokens(tokens) == "http://stackexchange.com/user/123?sort=newest"


def test_what_the_paper_discards_is_lost():
    assert split_url("http://a.example/x/") == split_url("http://a.example/x")


def test_a_token_that_few_urls_have_is_an_argument_and_the_first_is_arg1():
    urls = [f"http://a.example/user/{n}/name{n}" for n in range(200)]
    vocabulary = vocabulary_of(urls, {}, 0.01, whole=False, copies=False)
    assert set(vocabulary.functions) == {"http:", "a.example", "user"}
    reading = vocabulary.encode(urls[7])
    assert [reading.tokens[place] for place in reading.places] == ["7", "name7"]
    first = vocabulary.first_argument
    assert reading.ids[-2:] == (first, first + 1)
    said = vocabulary.symbols(reading, "http://a.example/user/7")
    assert said[-1] == first
    assert vocabulary.url_of(reading, said) == "http://a.example/user/7"


def test_what_is_neither_known_nor_there_to_copy_cannot_be_said():
    urls = [f"http://a.example/t/prev/{n}" for n in range(200)]
    for copies in (False, True):
        vocabulary = vocabulary_of(urls, {}, 0.01, whole=False, copies=copies)
        reading = vocabulary.encode(urls[3])
        assert UNKNOWN in vocabulary.symbols(reading, "http://a.example/t/98579.aspx")
        assert vocabulary.url_of(reading, [vocabulary.first_argument + 5]) is None
        assert vocabulary.url_of(reading, [10_000]) is None


def test_the_name_of_one_page_that_many_become_is_learned_although_one_url_has_it():
    urls = [f"http://a.example/message/set/user{n}" for n in range(300)]
    targets = dict.fromkeys(urls, urls[0])
    vocabulary = vocabulary_of(urls, targets, 0.01, whole=False, copies=False)
    assert "user0" in vocabulary.functions
    assert "user1" not in vocabulary.functions


@given(url=ON_SITE, copies=st.booleans())
def test_a_url_said_by_its_own_symbols_is_itself(url, copies):
    vocabulary = Vocabulary(("http:", "", "a.example", "a"), whole=True, copies=copies)
    reading = vocabulary.encode(url)
    assert vocabulary.url_of(reading, vocabulary.own_symbols(reading)) == url
    assert vocabulary.url_of(reading, vocabulary.symbols(reading, url)) == url


def test_a_url_with_more_arguments_than_there_are_placeholders_is_not_translated():
    url = "http://a.example/" + "/".join(map(str, range(40)))
    functions = ("http:", "a.example")
    assert Vocabulary(functions).encode(url) is None
    assert Vocabulary(functions, copies=True).encode(url) is not None
