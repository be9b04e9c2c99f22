"""Requests as JSON: what comes back is what went in, or nothing went in."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import FormRequest, Request, Spider

from scrapy_dust.redis.request_json import freeze, from_json, thaw, to_json

KEYS = st.text(max_size=3) | st.integers() | st.binary(max_size=3)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.binary(max_size=5),
    lambda part: (
        st.lists(part, max_size=3)
        | st.lists(part, max_size=3).map(tuple)
        | st.dictionaries(KEYS, part, max_size=3)
        | st.sets(st.text(max_size=3) | st.binary(max_size=3), max_size=3)
    ),
    max_leaves=8,
)


@given(VALUES)
def test_plain_values_come_back_as_they_were(value):
    back = from_json(to_json(value))
    assert back == value
    assert repr(back) == repr(value) or "{" in repr(value)  # sets have no order
    assert type(back) is type(value)


class Frozen(Spider):
    name = "frozen"

    def got(self, response):
        pass

    def failed(self, failure):
        pass


@pytest.mark.parametrize(
    "request_",
    [
        Request("http://example.com/#a", meta={"a": (1, b"\xff"), 3: {"x"}}, cookies={"a": "b"}, priority=3),
        FormRequest("http://example.com/", formdata={"a": "ä"}, headers={"X": ["1", "2"]}, dont_filter=True),
    ],
)
def test_requests_come_back_as_they_were(request_):
    spider = Frozen()
    request_ = request_.replace(callback=spider.got, errback=spider.failed)
    frozen = freeze(request_, spider)
    assert frozen is not None
    json.loads(frozen)
    back = thaw(frozen, spider)
    assert type(back) is type(request_)
    assert back.to_dict(spider=spider) == request_.to_dict(spider=spider)


@pytest.mark.parametrize("odd", [{"callback": print}, {"meta": {"a": object()}}, {"meta": {"a": Spider}}])
def test_what_would_not_come_back_is_not_frozen(odd):
    assert freeze(Request("http://example.com/", **odd), Frozen()) is None


@pytest.mark.parametrize(
    "strange",
    [
        '{"d": [1, 2]}',
        '{"p": [[{"d": {}}, 1]]}',
        '{"b": 7}',
        '{"s": [[1]]}',
        '{"x": 1, "y": 2}',
        "7",
        '{"d": {}}',
        '{"d": {"url": 7}}',
        '{"d": {"url": "http://a.example/", "_class": "no.such.module"}}',
        '{"d": {"url": "http://a.example/", "_class": "os.system"}}',
        "[" * 100_000,
    ],
    ids=range(11),
)
def test_what_no_worker_has_written_is_refused_and_nothing_else(strange):
    with pytest.raises(ValueError, match=r"this spider|another worker|Expecting|unpack|key|no such"):
        thaw(strange, Spider("s"))
