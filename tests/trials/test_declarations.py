"""What a site says of its own parameters."""

from __future__ import annotations

from scrapy_dust.trials.declarations import by_header, by_robots


def test_it_is_about_the_host_that_says_it():
    text = "User-agent: *\nClean-param: sid&ref /forum/\n# elsewhere.example\nClean-param: x\n"
    said = by_robots(text, "http://www.a.example/robots.txt")
    url = "http://www.a.example/forum/topic?id=1&sid=2"
    assert [edit.apply(url) for edit in said if "sid=" in str(edit)] == [
        "http://www.a.example/forum/topic?id=1"
    ]
    others = ["http://a.example/forum/topic?id=1&sid=2", "http://www.a.example/shop?id=1&sid=2&ref=3"]
    assert all(edit.apply(other) == other for edit in said for other in others)


def test_headers_name_parameters_or_keep_them():
    named = by_header('key-order, params=("a" "b")', "http://a.example/x")
    assert [edit.apply("http://a.example/y?a=1&c=2") for edit in named][:1] == ["http://a.example/y?c=2"]
    (kept,) = by_header('params, except=("id")', "http://a.example/x")
    assert kept.apply("http://a.example/y?id=1&c=2") == "http://a.example/y?id=1"


def test_what_says_nothing_suggests_nothing():
    for value in ("", "?", "params=?0", "params", "\0", 'params=("' + "x" * 10):
        for edit in by_header(value, "http://a.example/x"):
            assert edit.guard
    assert by_robots("<html>Clean-param", "http://a.example/robots.txt") == []
    assert by_robots("Clean-param: x", "no url") == []
