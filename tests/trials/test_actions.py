from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.settings import DustSettings
from scrapy_dust.trials.actions import ActionWords

ACTIONS = ActionWords(DustSettings().never_probe)


@pytest.mark.parametrize(
    "rest",
    [
        *(
            "logout",
            "log-out",
            "user/LogOut",
            "LOGOUT.aspx",
            "log%2Dout",
            "%6Cogout",
            "a/b/logout/",
            "dologout",
        ),
        *("cart/add-to-cart?id=3", "?add_to_cart=3", "?addToCart=3", "p.php?do=AddToCart", "cart/add/7"),
        *("p?action=deleteUser", "deletepost.php", "posts/7/delete", "?a=1&b=remove", "unsubscribe?u=1;x=2"),
        *("buy/7", "?do=buy", "vote?id=3", "p;jsessionid=1?cmd=reset", "x#/logout", "confirm%2Forder"),
    ],
)
def test_what_looks_like_an_action_is_one(rest):
    assert f"http://a.example/{rest}" in ACTIONS


@pytest.mark.parametrize(
    "rest",
    [
        *(
            "",
            "buying-guides",
            "voter-guide",
            "devotee",
            "products?id=3&sort=price",
            "logs/out-2026",
            "presets",
        ),
        *("paypal-history", "carts/1", "catalogue", "subsets", "undead"),
    ],
)
def test_pages_are_no_actions(rest):
    assert f"http://a.example/{rest}" not in ACTIONS


def test_the_host_says_nothing():
    assert "http://logout.example/page" not in ACTIONS


def test_without_a_list_nothing_is_an_action():
    assert "http://a.example/logout" not in ActionWords(())


@given(
    st.text(alphabet="aA-_/%25?&=;.0eldtLOUg", max_size=60),
    st.sampled_from(["logout", "add-to-cart", "delete"]),
)
def test_a_word_of_the_list_is_found_wherever_it_stands_alone(around, word):
    assert f"http://a.example/{around.replace('%', '')}/{word}" in ACTIONS


@pytest.mark.parametrize("part", ["a-", "delet", "aB", "%25", "1a", "logou/"])
def test_time_is_linear_in_the_url(part):
    def seconds(times: int) -> float:
        began = time.process_time()
        assert ("http://a.example/" + part * times in ACTIONS) is False
        return time.process_time() - began

    # Eight times as long: eight times the time, and sixty-four if it were quadratic.
    assert min(seconds(8000) for _ in range(3)) < 32 * max(min(seconds(1000) for _ in range(5)), 0.001)
