from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.crawl_log.hiding import KEY_FILE, Hider, is_hidden, local_key
from scrapy_dust.propose.dustbuster.likely_parameters import parameters

hider = Hider(["token", "user[email]"], b"k" * 32)
HASH = hider.hide("http://a.test/?token=secret").rpartition("=")[2]


@pytest.mark.parametrize(
    "url",
    [
        "http://a.test/?token=secret",
        "http://a.test/?TOKEN=secret",
        "http://a.test/p?a=1&token=secret&b=2",
        "http://a.test/p?a=1;token=secret;b=2",
        "http://a.test/p;token=secret?b=2",
        "http://a.test/p;token=secret/q",
        "http://a.test/p#token=secret&x=1",
        "http://a.test/p?a=1#token=secret",
        "http://a.test/login?next=%2Fp%3Ftoken%3Dsecret%26b%3D2",
        "http://a.test/login?next=%252Fp%253Ftoken%253Dsecret%2526b",
        "http://a.test/login?next=/p?token=secret",
        "http://a.test/?user%5Bemail%5D=secret",
        "http://a.test/?user[email]=secret",
    ],
)
def test_the_value_is_hidden_wherever_it_stands_and_nothing_else_changes(url):
    hidden = hider.hide(url)
    assert hidden == url.replace("secret", HASH)
    assert is_hidden(hidden)
    assert not is_hidden(url)


@pytest.mark.parametrize("value", ["a%26b", "a%3Db", "a/b+c==", "a?b", "me@a.test", "x" * 500])
def test_of_a_value_nothing_is_left(value):
    assert hider.hide(f"http://a.test/?token={value}&b=2") == (
        f"http://a.test/?token={hider.hide('?token=' + value)[7:]}&b=2"
    )
    assert len(hider.hide("?token=" + value)) == len("?token=hidden") + 16


@pytest.mark.parametrize(
    "url",
    [
        "http://a.test/",
        "http://a.test/?token=",
        "http://a.test/?mytoken=1&tokens=2",
        "http://token=1/?q=token",
    ],
)
def test_what_is_no_value_of_theirs_stays(url):
    assert hider.hide(url) == url


@given(st.text(min_size=1), st.text(min_size=1))
def test_equal_values_stay_equal_and_different_ones_different(one, other):
    urls = [f"http://a.test/?token={quote(value)}" for value in (one, other)]
    hidden = [hider.hide(url) for url in urls]
    assert (hidden[0] == hidden[1]) == (one == other)
    assert all(len(url) == len("http://a.test/?token=hidden") + 16 for url in hidden)


def test_another_key_gives_another_hash():
    assert Hider(["token"], b"other").hide("?token=secret") != hider.hide("?token=secret")


def test_what_is_hidden_is_not_hidden_again():
    hidden = hider.hide("http://a.test/?token=secret")
    assert hider.hide(hidden) == hidden


def test_every_url_of_a_record_is_looked_at_and_other_fields_are_not():
    url = "http://a.test/?token=secret"
    record = {"url": url, "redirect_to": url, "canonical": url, "title": url, "status": 200}
    hidden = hider.hide(url)
    assert hider(record) == record | {"url": hidden, "redirect_to": hidden, "canonical": hidden}
    assert record["url"] == url


def test_a_hidden_value_is_still_the_parameters_value():
    (found,) = parameters(hider.hide("http://a.test/?token=a-b.c"))
    assert found.name == "token"


def test_the_key_is_made_once_and_is_its_owners_alone(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(local_key, [tmp_path / "new"] * 8))
    assert len(keys) == 1
    assert len(keys.pop()) == 32
    assert stat.S_IMODE((tmp_path / "new" / KEY_FILE).stat().st_mode) == 0o600
    assert [file.name for file in (tmp_path / "new").iterdir()] == [KEY_FILE]
