from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.visits.pages import Visit
from tests.crawl_log.reading import bad_lines, read, urls

# https://github.com/internetarchive/heritrix3/wiki/Logs
PAGE = (
    "2011-06-23T17:12:09.591Z   200      15829 http://www.identitytheory.com/etexts/poetics.html L"
    " http://www.identitytheory.com/ text/html #025 20110623171208546+922"
    " sha1:7AJUMSDTOMT4FN7MBFGGNJU3Z56MLCMW - -"
)


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("heritrix")


def test_a_crawl_log_tells_pages_failures_and_what_was_not_asked_for(folder):
    visits, reading = read(
        folder,
        "2011-06-23T17:12:07.802Z     1         59 dns:www.identitytheory.com LP http://www.identitytheory.com/"
        " text/dns #014 20110623171207500+25 sha1:YIUOKDGOLGI5JYHDTXRFFQ5FF4N2EJRV - content-size:59",
        PAGE,
        PAGE.replace("  200 ", "  301 ").replace("poetics", "moved"),
        PAGE.replace("  200 ", "   -4 ")
        .replace("poetics", "slow")
        .replace("sha1:7AJUMSDTOMT4FN7MBFGGNJU3Z56MLCMW", "-"),
        PAGE.replace("  200 ", "-9998 ").replace("poetics", "robots"),
        PAGE.replace("2011-06-23T17:12:09.591Z", "20110623171209591"),
        PAGE + ' {"contentSize":15829}',
    )
    shown = Visit(
        "http://www.identitytheory.com/etexts/poetics.html",
        200,
        (15829, 15829),
        digest="7AJUMSDTOMT4FN7MBFGGNJU3Z56MLCMW",
        content_type="text/html",
        fetched_at="2011-06-23T17:12:09.591000Z",
    )
    assert visits[0] == visits[4] == shown
    assert [(visit.status, visit.size, visit.failed) for visit in visits[1:3]] == [
        (301, None, False),
        (None, None, True),
    ]
    assert (len(visits), reading.passed_over, reading.unreadable_count) == (5, 2, 0)


@given(st.lists(st.none() | st.text("2011-06T:.Z x#sha1é", min_size=1, max_size=60), max_size=30))
def test_fuzzed_lines_are_counted(folder, lines):
    cleaned = [PAGE if line is None else line for line in lines if line is None or line.strip()]
    visits, reading = read(folder, PAGE, *cleaned, format="heritrix")
    assert reading.records + reading.passed_over + reading.unreadable_count == 1 + len(cleaned)
    assert len(urls(visits)) == 1 + lines.count(None)
    assert all(cleaned[line - 2] != PAGE for line in bad_lines(reading))
