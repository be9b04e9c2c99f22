"""The table finds the suffix that tldextract finds, of every suffix that there is and of hosts of any kind."""

from __future__ import annotations

import subprocess
import sys

import pytest
import tldextract
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_dust.public_suffixes import registrable

EXTRACT = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)
SUFFIXES = sorted(EXTRACT.tlds)


def literal(host):
    found = EXTRACT(host)
    return None if found.ipv4 or found.ipv6 else (found.domain, found.suffix)


def test_of_every_suffix_and_of_what_is_below():
    assert len(SUFFIXES) > 5000
    for suffix in SUFFIXES:
        bare = suffix.lstrip("*!.")
        for host in (bare, f"a.{bare}", f"b.a.{bare}", f"c.b-1.a.{bare}"):
            assert registrable(host) == literal(host), host


@given(
    st.lists(
        st.sampled_from(
            ["a", "www", "7", "07", "255", "256", "xn--p1ai", "xn--", "-", "_x", "", "ck", "city", "kawasaki"]
        )
        | st.text("ab7.-_*!x\u3002é:@[]/ ", max_size=5),
        max_size=4,
    ),
    st.sampled_from(
        ["", "com", "co.uk", "ck", "www.ck", "kawasaki.jp", "city.kawasaki.jp", "github.io", "test", "рф"]
    ),
)
@example(["1", "2", "3"], "4")
@example(["255", "1", "249"], "199")
@example(["256", "1", "2"], "3")
@example(["1", "2", "3", "4"], "5")
@example(["0001", "2", "3"], "4")
@example(["::1"], "")
def test_of_hosts_of_any_kind(labels, suffix):
    host = ".".join([*labels, suffix] if suffix else labels)
    assert registrable(host) == literal(host)


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("www.a.co.uk", ("a", "co.uk")),
        ("me.github.io", ("me", "github.io")),
        ("co.uk", ("", "co.uk")),
        ("a.b.ck", ("a", "b.ck")),
        ("a.www.ck", ("www", "ck")),
        ("a.test", ("test", "")),
        ("intranet", ("intranet", "")),
        ("127.0.0.1", None),
    ],
)
def test_what_is_registered(host, expected):
    assert registrable(host) == expected


@given(st.lists(st.integers(0, 300).map(str), min_size=4, max_size=4).map(".".join))
def test_of_addresses(host):
    assert registrable(host) == literal(host)


@pytest.mark.parametrize("host", ["www.a.co.uk", "127.0.0.1:8080", "localhost"])
def test_the_garbage_collector_has_nothing_to_go_through(host):
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            (
                "import gc\n"
                "from scrapy_dust.sites import site_of\n"
                "gc.collect(); before = len(gc.get_objects())\n"
                f"site_of('http://{host}/')\n"
                "gc.collect(); print(len(gc.get_objects()) - before)"
            ),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) < 2000
