from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.visits.pages import Visit
from tests.crawl_log.reading import bad_lines, read


def dumped(url: str, status: str, signature: str = "null", *metadata: str) -> tuple[str, ...]:
    """As ``nutch readdb crawldb -dump`` writes it."""
    return (
        f"{url}\tVersion: 7",
        f"Status: {status}",
        "Fetch time: Fri Dec 18 07:24:36 UTC 2026",
        "Modified time: Wed Nov 18 07:24:36 UTC 2026",
        "Retries since fetch: 0",
        "Retry interval: 2592000 seconds (30 days)",
        "Score: 1.0",
        f"Signature: {signature}",
        "Metadata: ",
        *metadata,
        "",
    )


SIGNATURE = "4ac1b5f7d1fe2a5b9a1c7c4e6cd2d7a0"
PAGE = dumped(
    "http://a.test/x",
    "2 (db_fetched)",
    SIGNATURE,
    " \t_pst_=success(1), lastModified=0",
    "\tContent-Type=text/html",
)


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("nutch")


def test_a_crawl_database_tells_pages_redirects_and_what_is_gone(folder):
    visits, reading = read(
        folder,
        *PAGE,
        *dumped("http://a.test/again", "7 (db_duplicate)", SIGNATURE),
        *dumped("http://a.test/unseen", "1 (db_unfetched)"),
        *dumped(
            "http://a.test/old",
            "5 (db_redir_perm)",
            "null",
            "\t_pst_=moved(12), lastModified=0: http://a.test/x",
        ),
        *dumped(
            "http://a.test/none",
            "3 (db_gone)",
            "null",
            " \t_pst_=notfound(14), lastModified=0: http://a.test/none",
        ),
        *dumped("http://a.test/same", "6 (db_notmodified)", SIGNATURE),
    )
    assert visits == [
        Visit("http://a.test/x", 200, digest=SIGNATURE, content_type="text/html"),
        Visit("http://a.test/again", 200, digest=SIGNATURE),
        Visit("http://a.test/old", 301, redirect_to="http://a.test/x"),
        Visit("http://a.test/none", failed=True),
        Visit("http://a.test/same", 200, digest=SIGNATURE),
    ]
    assert (reading.passed_over, reading.unreadable_count) == (1, 0)


def test_what_cannot_be_read_is_named_by_its_first_line(folder):
    _, reading = read(
        folder, "garbage", *PAGE, "http://a.test/y\tVersion: 7", "Score: 1.0", "", "more garbage", *PAGE
    )
    assert bad_lines(reading) == [1, 14, 17]
    assert reading.records == 2


@given(st.lists(st.none() | st.text("abc:é() 7\t", min_size=1, max_size=20), max_size=20))
def test_fuzzed_lines_are_counted(folder, lines):
    content = [line for one in lines for line in (PAGE if one is None else ("!" + one, ""))]
    visits, reading = read(folder, *PAGE, *content)
    assert len(visits) == 1 + lines.count(None)
    assert reading.unreadable_count == len(lines) - lines.count(None)
