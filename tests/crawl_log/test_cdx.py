from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.crawl_log import cdx, read_visits
from scrapy_dust.visits.pages import Visit
from tests.crawl_log.reading import bad_lines, read, urls

DIGEST = "RRYCMLQ5C4DNVNQQC5ERBWQ7TXTJTPQ3"
ELEVEN = f"test,a)/x 20261118072436 http://a.test/x text/html 200 {DIGEST} - - 1043 333 some.warc.gz"
NINE = f"test,a)/x 20261118072436 http://a.test/x text/html 200 {DIGEST} - 333 some.arc.gz"
SEVEN = f"test,a)/x 20261118072436 http://a.test/x text/html 200 {DIGEST} 1043"
SHOWN = Visit(
    "http://a.test/x", 200, digest=DIGEST, content_type="text/html", fetched_at="2026-11-18T07:24:36Z"
)
# https://commoncrawl.org/blog/announcing-the-common-crawl-index, https://pywb.readthedocs.io
CC = (
    'test,a)/x 20261118072436 {"url": "http://a.test/x", "mime": "text/html", "mime-detected": "text/html",'
    f' "status": "200", "digest": "{DIGEST}", "length": "1043", "offset": "333", "filename": "some.warc.gz"}}'
)
PYWB = CC.replace(f'"{DIGEST}"', f'"sha1:{DIGEST}"').replace('": ', '":')


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("cdx")


@pytest.mark.parametrize(
    "lines",
    [
        (" CDX N b a m s k r M S V g", ELEVEN),
        (" CDX N b a m s k r V g", NINE),
        ("CDX A b a s k m", f"a.test/x 20261118072436 http://a.test/x 200 {DIGEST} text/html"),
        (ELEVEN, ELEVEN.replace("text/html 200", "text/html -")),
        (NINE,),
        (SEVEN,),
        (CC,),
        (PYWB,),
        ("!OpenWayback-CDXJ 1.0", CC),
    ],
)
def test_indexes_are_known_with_a_header_and_without(folder, lines):
    visits, reading = read(folder, *lines)
    assert visits[0] == SHOWN
    assert reading.unreadable_count == 0


def test_redirects_revisits_and_what_is_no_page(folder):
    visits, reading = read(
        folder,
        " CDX N b a m s k r M S V g",
        ELEVEN,
        ELEVEN.replace("text/html 200", "warc/revisit -").replace("a.test/x", "a.test/again"),
        ELEVEN.replace("200", "302").replace(f"{DIGEST} -", f"{DIGEST} http://a.test/y"),
        f"test,a) 20261118072436 dns:a.test text/dns - {DIGEST} - - 60 0 some.warc.gz",
        f"- 20261118072436 warcinfo:/some.warc.gz warc-info - {DIGEST} - - 60 0 some.warc.gz",
    )
    assert visits == [
        SHOWN,
        Visit("http://a.test/again", digest=DIGEST, fetched_at=SHOWN.fetched_at),
        Visit(
            "http://a.test/x",
            302,
            digest=DIGEST,
            content_type="text/html",
            redirect_to="http://a.test/y",
            fetched_at=SHOWN.fetched_at,
        ),
    ]
    assert reading.passed_over == 3
    moved = json.dumps({"url": "http://a.test/x", "status": "301", "redirect": "/y", "digest": DIGEST})
    (visit,), _ = read(folder, f"test,a)/x 20261118072436 {moved}")
    assert visit.redirect_to == "http://a.test/y"


def test_what_cannot_be_read_is_named(folder):
    visits, reading = read(folder, " CDX N b a m s k r M S V g", ELEVEN, NINE, "x", ELEVEN)
    assert (len(visits), bad_lines(reading)) == (2, [3, 4])
    visits, reading = read(folder, CC, CC[:-5], "test,a)/x 2026 {}", "x", CC)
    assert (len(visits), bad_lines(reading)) == (2, [2, 3, 4])


@pytest.mark.parametrize(("good", "log_format"), [(ELEVEN, "cdx"), (CC, "cdxj")])
@given(lines=st.lists(st.none() | st.text('test,a)/ 20261118{}":-é\\', min_size=1, max_size=60), max_size=30))
def test_fuzzed_lines_are_counted(folder, good, log_format, lines):
    cleaned = [good if line is None else line for line in lines if line is None or line.strip()]
    visits, reading = read(folder, good, *cleaned, format=log_format)
    assert reading.records + reading.passed_over + reading.unreadable_count == 1 + len(cleaned)
    assert urls(visits).count("http://a.test/x") == 1 + lines.count(None)


# warcio leaves a temporary file of its own to the garbage collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_index_that_warcio_made_of_an_archive_is_read(tmp_path):
    pytest.importorskip("warcio", reason="archives to index are written by warcio")
    from warcio.indexer import Indexer  # noqa: PLC0415
    from warcio.statusandheaders import StatusAndHeaders  # noqa: PLC0415
    from warcio.warcwriter import WARCWriter  # noqa: PLC0415

    with (tmp_path / "a.warc.gz").open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        for path in ("x", "y"):
            head = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
            writer.write_record(
                writer.create_warc_record(
                    f"http://a.test/{path}", "response", payload=io.BytesIO(b"same"), http_headers=head
                )
            )
    fields = ["warc-target-uri", "http:status", "warc-payload-digest", "http:content-type"]
    Indexer(fields, [str(tmp_path / "a.warc.gz")], str(tmp_path / "index")).process_all()
    names = {
        "warc-target-uri": "url",
        "http:status": "status",
        "warc-payload-digest": "digest",
        "http:content-type": "mime",
    }
    path = tmp_path / "index.cdxj"
    with path.open("w") as index:
        for line in (tmp_path / "index").read_text().splitlines():
            indexed = json.loads(line)
            print(
                "key 20261118072436", json.dumps({names[name]: indexed[name] for name in fields}), file=index
            )
    one, two = read_visits(path)
    assert (one.url, two.url, one.status, one.content_type) == (
        "http://a.test/x",
        "http://a.test/y",
        200,
        "text/html",
    )
    assert one.digest == two.digest is not None


def test_what_answers_another_request_than_a_get_is_no_page():
    """Pywb's keys, https://pywb.readthedocs.io/en/latest/manual/apis.html."""
    key = "test,a)/form?__wb_method=post&a=1"
    said = (
        '20261118072436 {"url": "http://a.test/form", "status": "200", "digest": "X", "mime": "text/html"%s}'
    )
    assert cdx.parse_cdxj(f"{key} {said % ''}") is None
    assert cdx.parse_cdxj("test,a)/form " + said % ', "method": "OPTIONS"') is None
    assert cdx.parse_cdxj("test,a)/form " + said % ', "method": "GET"') is not None
    line = "20261118072436 http://a.test/form text/html 200 RRYC - - 1043 333 some.warc.gz"
    assert cdx._Cdx().parse(f"{key} {line}") is None
    assert cdx._Cdx().parse(f"test,a)/form {line}") is not None
