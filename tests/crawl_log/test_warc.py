from __future__ import annotations

import bz2
import gzip
import io
import re
import zlib
from contextlib import suppress

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.crawl_log import read_visits, sources, warc
from scrapy_dust.crawl_log.payloads import payload_of
from scrapy_dust.errors import CrawlLogError
from scrapy_dust.page.sketch import describe
from tests.crawl_log.reading import urls

DATE = "2026-11-18T07:24:36Z"
HTML = b"<title>T</title><p>" + b" ".join(b"word%d" % n for n in range(40)) + b"<a href=/x>y</a>"
# warcio leaves temporary files of its own to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("warc")


class Archive:
    """What warcio writes."""

    def __init__(self, *, gzip: bool = True) -> None:
        warcwriter = pytest.importorskip(
            "warcio.warcwriter", reason="the archives to read are written by warcio"
        )
        self._buffer = io.BytesIO()
        self._writer = warcwriter.WARCWriter(self._buffer, gzip=gzip)

    def add(
        self, path: str, body: bytes = HTML, status: str = "200 OK", kind: str = "response", **headers: str
    ) -> Archive:
        from warcio.statusandheaders import StatusAndHeaders  # noqa: PLC0415

        said = [("Content-Type", "text/html; charset=utf-8")]
        said += [(name.replace("_", "-"), value) for name, value in headers.items() if name[0].isupper()]
        own = {name.replace("_", "-"): value for name, value in headers.items() if name[0].islower()}
        head = StatusAndHeaders(status, said, protocol="HTTP/1.1") if kind != "resource" else None
        self._writer.write_record(
            self._writer.create_warc_record(
                f"http://a.test/{path}",
                kind,
                payload=io.BytesIO(body),
                http_headers=head,
                warc_content_type="text/html" if head is None else "",
                warc_headers_dict={"WARC-Date": DATE} | own,
            )
        )
        return self

    def add_revisit(self, path: str, of: bytes = HTML, *, head: bool = True) -> Archive:
        from warcio.statusandheaders import StatusAndHeaders  # noqa: PLC0415
        from warcio.utils import Digester  # noqa: PLC0415

        digester = Digester("sha1")
        digester.update(of)
        self._writer.write_record(
            self._writer.create_revisit_record(
                f"http://a.test/{path}",
                str(digester),
                "http://a.test/first",
                DATE,
                StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
                if head
                else None,
            )
        )
        return self

    def __bytes__(self) -> bytes:
        return self._buffer.getvalue()


def reading_of(folder, content, name="some.warc.gz"):
    path = folder / name
    path.write_bytes(bytes(content))
    reading = read_visits(path)
    return list(reading), reading


@pytest.mark.parametrize("gzipped", [True, False])
def test_pages_are_described_as_a_crawl_of_ours_would(folder, gzipped):
    archive = (
        Archive(gzip=gzipped)
        .add("first")
        .add("moved", b"", "301 Moved", Location="/first")
        .add("none", b"x", "404 No")
    )
    visits, reading = reading_of(folder, archive)
    text = describe(HTML, "text/html; charset=utf-8", None, "http://a.test/first")
    page, moved, none = visits
    assert (page.url, page.status, page.size, page.title, page.outlinks) == (
        "http://a.test/first", 200, (len(HTML), len(HTML)), "T", 1,
    )  # fmt: skip
    assert (page.sketch, page.text_digest, page.digest, page.simhash) == (
        text.sketch, text.text_digest, text.digest, text.simhash,
    )  # fmt: skip
    assert (moved.status, moved.redirect_to, moved.is_page) == (301, "http://a.test/first", False)
    assert (none.status, none.is_page) == (404, False)
    assert page.fetched_at.startswith("2026-11-18T07:24:36")
    assert reading.unreadable_count == reading.torn == reading.passed_over == 0


def test_what_is_to_be_ignored_has_no_units(folder):
    path = folder / "some.warc.gz"
    archive = Archive().add("one", HTML + b"<p class=ad>now</p>").add("two", HTML + b"<p class=ad>then</p>")
    path.write_bytes(bytes(archive))
    one, two = read_visits(path, ignore=[".ad"])
    assert one.units == two.units
    assert len({visit.units for visit in read_visits(path)}) == 2


def test_a_revisit_says_what_the_record_it_refers_to_said(folder):
    archive = Archive().add("first").add_revisit("again").add_revisit("bare", head=False)
    (first, again, bare), _ = reading_of(folder, archive)
    assert again.text_digest == bare.text_digest == first.text_digest is not None
    assert again.sketch == first.sketch
    assert again.size == first.size
    assert urls([again, bare]) == ["http://a.test/again", "http://a.test/bare"]


def test_a_revisit_may_refer_to_an_archive_that_was_read_before(tmp_path):
    (tmp_path / "1.warc.gz").write_bytes(bytes(Archive().add("first")))
    (tmp_path / "2.warc.gz").write_bytes(
        bytes(Archive().add_revisit("again").add_revisit("else", b"unknown"))
    )
    first, again, other = read_visits(tmp_path)
    assert again.text_digest == first.text_digest
    assert (other.text_digest, other.sketch) == (None, None)
    assert other.digest != first.digest


def test_unknown_payloads_of_one_digest_are_alike(folder):
    (one, two, other), _ = reading_of(
        folder, Archive().add_revisit("1", b"a").add_revisit("2", b"a").add_revisit("3", b"b")
    )
    assert one.digest == two.digest != other.digest
    assert ":" not in one.digest


def test_other_records_are_passed_over_and_resources_are_pages(folder):
    archive = (
        Archive().add("page", kind="resource").add("truncated", WARC_Truncated="", warc_truncated="length")
    )
    archive._writer.write_record(archive._writer.create_warcinfo_record("a.warc", {"software": "test"}))
    archive.add("page", b"GET / HTTP/1.1\r\n", kind="metadata")
    (resource, truncated), reading = reading_of(folder, archive)
    assert resource.text_digest == describe(HTML, "text/html", None, resource.url).text_digest
    assert (truncated.size, truncated.text_digest) == (None, None)
    assert reading.passed_over == 2


@pytest.mark.parametrize(
    ("coding", "pack"),
    [
        ("gzip", gzip.compress),
        ("x-gzip", gzip.compress),
        ("deflate", zlib.compress),
        ("deflate", lambda body: zlib.compress(body)[2:-4]),
        ("br", brotli.compress),
        ("gzip, br", lambda body: brotli.compress(gzip.compress(body))),
        ("identity", bytes),
        # The archive has unpacked it and kept the header.
        ("gzip", bytes),
    ],
)
@pytest.mark.parametrize("chunked", [False, True])
def test_bodies_are_unpacked(folder, coding, pack, chunked):
    body, headers = pack(HTML), {"Content_Encoding": coding}
    if chunked:
        headers["Transfer_Encoding"] = "chunked"
        pieces = [body[at : at + 50] for at in range(0, len(body), 50)]
        body = b"".join(b"%x;ext\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
    (page,), _ = reading_of(folder, Archive().add("p", body, **headers))
    assert page.size == (len(HTML), len(HTML))
    assert page.text_digest == describe(HTML, "text/html", None, page.url).text_digest


def test_what_cannot_be_unpacked_is_a_page_of_which_nothing_is_known(folder, monkeypatch):
    broken = gzip.compress(HTML)[:-20]
    (page, unknown), _ = reading_of(
        folder, Archive().add("p", broken, Content_Encoding="gzip").add("q", HTML, Content_Encoding="dcb")
    )
    assert page.size is unknown.size is page.text_digest is None
    monkeypatch.setattr("scrapy_dust.crawl_log.payloads.MAX_BODY", 1000)
    for coding, pack in (("gzip", gzip.compress), ("deflate", zlib.compress), ("br", brotli.compress)):
        assert payload_of(pack(b"0" * 100_000), {"content-encoding": coding}) is None


def test_a_long_block_is_not_looked_into_and_costs_only_itself(folder, monkeypatch):
    monkeypatch.setattr(warc, "MAX_BLOCK", 2000)
    (long, page), reading = reading_of(folder, Archive().add("long", b"x" * 5000).add("page"))
    assert (long.size, long.status) == (None, 200)
    assert page.size == (len(HTML), len(HTML))
    assert reading.unreadable_count == 0


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress])
def test_archives_may_be_packed_as_a_whole(folder, pack):
    archive = bytes(Archive(gzip=False).add("1").add("2"))
    assert len(reading_of(folder, pack(archive), "whole.warc")[0]) == 2


def test_a_damaged_record_costs_itself(folder):
    parts = [bytes(Archive(gzip=False).add(str(n))) for n in range(5)]
    parts[1] = parts[1].replace(b"HTTP/1.1 200", b"HTCPCP 418x ")
    parts[3] = parts[3].replace(b"Content-Length:", b"Content-Lxngth:", 1)
    visits, reading = reading_of(folder, b"".join(parts))
    assert urls(visits) == [f"http://a.test/{n}" for n in (0, 2, 4)]
    # Behind the record whose length is not known stands what looks like no record.
    assert [bad.line for bad in reading.unreadable] == [2, 4, 5]


@pytest.fixture(scope="session")
def archives():
    """Each with where its records end; warcio gives records ids by chance, so each is made once."""
    made = []
    for gzipped in (True, False):
        archive = Archive(gzip=gzipped)
        made.append(([len(bytes(archive.add(str(n), HTML[: 30 * n]))) for n in range(4)], bytes(archive)))
    return made


@given(st.data())
def test_an_archive_cut_anywhere_loses_its_last_record_at_most(folder, archives, data):
    ends, whole = data.draw(st.sampled_from(archives))
    at = data.draw(st.integers(10, len(whole)))
    path = folder / "cut.warc"
    path.write_bytes(whole[:at])
    reading = read_visits(path, "warc")
    kept = sum(end <= at for end in ends)
    found: list[str] = []
    try:
        found = urls(list(reading))
    except CrawlLogError:
        assert kept == 0
    assert found[:kept] == [f"http://a.test/{n}" for n in range(kept)]
    assert len(found) <= kept + 1
    assert reading.unreadable_count + reading.torn <= (at not in ends)


@given(st.data())
def test_no_archive_is_too_strange(folder, archives, data):
    whole = bytearray(archives[1][1])
    for _ in range(data.draw(st.integers(1, 20))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    path = folder / "strange.warc"
    path.write_bytes(bytes(whole))
    reading = read_visits(path, "warc")
    with suppress(CrawlLogError):
        assert len(list(reading)) <= 4
    assert reading.records <= 4


def test_warcio_reads_the_same_pages(folder):
    archiveiterator = pytest.importorskip("warcio.archiveiterator")
    archive = bytes(Archive().add("1").add("2", gzip.compress(HTML), Content_Encoding="gzip").add("3", b""))
    theirs = [
        (record.rec_headers.get_header("WARC-Target-URI"), len(record.content_stream().read()))
        for record in archiveiterator.ArchiveIterator(io.BytesIO(archive))
    ]
    visits, _ = reading_of(folder, archive)
    assert [(visit.url, visit.size[0]) for visit in visits] == theirs


def test_words_of_pages_can_be_read_again(folder):
    archive = Archive().add("first").add("none", status="404 No").add("moved", b"", "301 Moved").add("second")
    path = folder / "words.warc.gz"
    path.write_bytes(bytes(archive))
    wanted = {f"http://a.test/{name}" for name in ("second", "none", "moved", "nowhere")}
    ((url, words),) = warc.words_in(path, wanted)
    assert (url, words[:2], len(words)) == ("http://a.test/second", ["word0", "word1"], 40)
    path.write_bytes(b"http://a.test/first\n")
    assert not list(warc.words_in(path, wanted))


def pair(writer, path, method, *, request_first):
    """A request and its answer as warcio writes them; pywb, wget and Heritrix write the request first."""
    from warcio.statusandheaders import StatusAndHeaders  # noqa: PLC0415

    url = f"http://a.test/{path}"
    said = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
    answer = writer.create_warc_record(url, "response", payload=io.BytesIO(HTML), http_headers=said)
    asked = StatusAndHeaders(f"{method} /{path} HTTP/1.1", [("Host", "a.test")], is_http_request=True)
    request = writer.create_warc_record(url, "request", payload=io.BytesIO(b""), http_headers=asked)
    if request_first:
        answer.rec_headers.add_header("WARC-Concurrent-To", request.rec_headers.get_header("WARC-Record-ID"))
        writer.write_record(request)
        writer.write_record(answer)
    else:
        writer.write_request_response_pair(request, answer)


@pytest.mark.parametrize("request_first", [True, False])
def test_what_answers_a_post_is_no_page(folder, request_first):
    archive = Archive()
    for path, method in (("a", "GET"), ("b", "POST"), ("c", "OPTIONS"), ("d", "GET"), ("b", "GET")):
        pair(archive._writer, path, method, request_first=request_first)
    archive.add("e")
    visits, reading = reading_of(folder, archive)
    assert urls(visits) == [f"http://a.test/{path}" for path in "adbe"]
    assert (reading.passed_over, reading.unreadable_count) == (5 + 2, 0)


def test_a_request_beside_its_answer_needs_no_name_of_it(folder):
    archive = Archive(gzip=False)
    pair(archive._writer, "b", "POST", request_first=True)
    plain = b"".join(line for line in bytes(archive).splitlines(keepends=True) if b"Concurrent" not in line)
    with pytest.raises(CrawlLogError, match="no request that shows a page"):
        reading_of(folder, plain, "some.warc")


def test_an_archive_packed_with_zstd_may_bring_its_dictionary(folder):
    zstd = sources._zstd()
    both = ["http://a.test/first", "http://a.test/second"]
    plain = bytes(Archive(gzip=False).add("first").add("second"))
    assert urls(reading_of(folder, zstd.compress(plain), "a.warc.zst")[0]) == both
    samples = [b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: %d\r\n" % n * 20 for n in range(200)]
    dictionary = zstd.train_dict(samples, 4096)
    packed = zstd.compress(plain, zstd_dict=dictionary)
    for inside in (dictionary.dict_content, zstd.compress(dictionary.dict_content)):
        frame = b"\x5d\x2a\x4d\x18" + len(inside).to_bytes(4, "little") + inside
        assert urls(reading_of(folder, frame + packed, "b.warc.zst")[0]) == both
    spoilt = b"\x5d\x2a\x4d\x18" + (9).to_bytes(4, "little") + b"no dictio" + packed
    with pytest.raises(CrawlLogError):
        reading_of(folder, spoilt, "c.warc.zst")


@pytest.mark.parametrize(
    ("begins", "said"),
    [
        (b"PK\x03\x04rest", "of a WACZ, name the folder 'archive' in it"),
        (b"\x04\x22\x4d\x18rest", "`lz4 -d`"),
        (
            b"filedesc://a.arc 0.0.0.0 20261119 text/plain 76\n",
            "`warcio recompress FILE.arc.gz FILE.warc.gz`",
        ),
    ],
)
def test_what_is_not_read_says_how_to_convert_it(folder, begins, said):
    with pytest.raises(CrawlLogError, match=re.escape(said)):
        reading_of(folder, begins, "some.warc")
