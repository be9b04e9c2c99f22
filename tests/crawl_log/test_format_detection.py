from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.commands import dustmine
from scrapy_dust.crawl_log import read_visits
from scrapy_dust.crawl_log.format_detection import FORMATS, READERS, format_of
from scrapy_dust.errors import CrawlLogError
from tests.crawl_log.reading import read

JSON = '{"url": "http://a.test/x", "status": 200}'
LINES = {
    "dust": JSON,
    "combined": '1.2.3.4 - - [18/Nov/2026:07:24:36 +0000] "GET /x HTTP/1.1" 200 5 "-" "curl"',
    "access-json": '{"request": "GET /x HTTP/1.1", "status": 200, "host": "a.test"}',
    "cdx": "test,a)/x 20261118072436 http://a.test/x text/html 200 RRYC - - 1043 333 some.warc.gz",
    "cdxj": 'test,a)/x 20261118072436 {"url": "http://a.test/x", "status": "200", "digest": "RRYC"}',
    "heritrix": "2011-06-23T17:12:09.591Z   200  15829 http://a.test/x L http://a.test/ text/html #025 2011+9 - - -",
    "nutch": "http://a.test/x\tVersion: 7",
    "w3c": "#Fields: cs-method cs-uri-stem sc-status",
    "csv": "url,status",
    "warc": "WARC/1.1",
}


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("detection")


def test_the_command_offers_what_is_read():
    assert dustmine.FORMATS == FORMATS


@pytest.mark.parametrize("name", list(LINES))
def test_a_format_is_known_by_one_line(name):
    assert format_of("some", [LINES[name].encode() + b"\n"]) == name
    assert format_of("some", [b"\n", b"\xef\xbb\xbf" * (name == "dust") + LINES["dust"].encode()]) == "dust"


@pytest.mark.parametrize("name", ["dust", "combined", "access-json", "cdx", "cdxj", "heritrix"])
def test_garbled_lines_at_the_beginning_do_not_matter(name):
    line = LINES[name].encode()
    assert format_of("some", [b"\xff\x00garbage", line[: len(line) // 3], line, line, b"{", line]) == name


def test_what_fits_nothing_is_read_as_our_own_log_which_says_what_is_wrong(folder):
    assert format_of("some", []) == format_of("some", [b"hello\n"]) == "dust"
    with pytest.raises(CrawlLogError, match="not a JSON object"):
        read(folder, "hello")


def test_a_name_that_says_json_lines_is_believed():
    assert format_of("log.jsonl.gz", [LINES["combined"].encode()]) == "dust"
    assert format_of("log.JSONL", [LINES["access-json"].encode()]) == "access-json"
    assert format_of("log.csv.zst", [b"address,status"]) == "csv"


@given(
    st.lists(
        st.fixed_dictionaries(
            {"url": st.sampled_from(["/", "http://a.test/", "x"])},
            optional={
                "status": st.just(200),
                "host": st.just("a.test"),
                "request": st.just("GET / HTTP/1.1"),
                "size": st.just(3),
            },
        ),
        min_size=1,
        max_size=5,
    )
)
def test_records_with_a_url_are_a_url_list_whatever_else_they_have(records):
    assert format_of("some", [json.dumps(record).encode() for record in records]) == "dust"


@pytest.mark.parametrize("log_format", list(READERS))
@given(content=st.lists(st.sampled_from(list(LINES.values())) | st.text(max_size=30), max_size=12), cut=st.integers(0, 40), data=st.binary(max_size=20))  # fmt: skip
def test_no_file_is_too_strange_for_any_reader(folder, log_format, content, cut, data):
    raw = "\n".join(content).encode("utf-8", "surrogatepass")
    path = folder / "strange"
    path.write_bytes(raw[: max(0, len(raw) - cut)] + data)
    for name in (log_format, "auto"):
        reading = read_visits(path, name, base_url="http://a.test")
        with suppress(CrawlLogError):
            assert sum(1 for _ in reading) == reading.records
