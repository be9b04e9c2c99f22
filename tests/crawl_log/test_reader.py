from __future__ import annotations

import bz2
import gzip
import json
import lzma
import tracemalloc
from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.crawl_log import (
    CrawlLogWriter,
    format_readers,
    new_log_path,
    read_visits,
    record_of_failure,
    record_of_page,
    record_of_redirect,
    sources,
    visits_by_site,
)
from scrapy_dust.crawl_log.sources import _zstd
from scrapy_dust.errors import CrawlLogError
from scrapy_dust.page import SKETCH_VERSION
from scrapy_dust.page.sketch import describe
from scrapy_dust.page.units import pack
from scrapy_dust.visits.pages import Visit

NOW = datetime(2026, 11, 18, 9, 30, 0, 123_456, tzinfo=UTC)
TIME = "2026-11-18T09:30:00.123Z"
URL = "http://a.test/"


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("logs")


def wrote(path, *parts):
    path.write_bytes(
        b"".join(part if isinstance(part, bytes) else json.dumps(part).encode() + b"\n" for part in parts)
    )
    return path


def visits_of(*records, folder):
    return list(read_visits(wrote(folder / "some.jsonl", *records)))


def visit_of(folder, **fields):
    (visit,) = visits_of({"url": URL} | fields, folder=folder)
    return visit


text = st.text(min_size=1, max_size=20)
count = st.integers(0, 2**63 - 1)
urls = st.text(min_size=1).filter(lambda url: not url.isspace())
targets = text.map(lambda path: "http://b.test/" + path)
pages = st.builds(
    dict,
    url=urls,
    status=st.integers(100, 999),
    size=count,
    sketch=st.lists(st.integers(0, 2**63 - 1), min_size=1, max_size=4),
    digest=text,
    text_digest=text,
    simhash=text,
    fetched_at=text,
) | st.fixed_dictionaries(
    {"url": urls},
    optional={
        "title": text,
        "canonical": targets,
        "redirect_to": targets,
        "outlinks": count,
        "content_type": text,
        "error": text,
        "words": count,
        "latency": st.floats(0, 100),
        "flags": st.lists(text),
    },
)


def expected(record):
    known = {name: record[name] for name in Visit.__dataclass_fields__ if name in record}
    if "size" in known:
        known["size"] = (known["size"], known["size"])
    if "sketch" in known:
        known["sketch"] = tuple(known["sketch"])
    return Visit(**known, failed="error" in record and "status" not in record)


@given(st.lists(pages, min_size=1))
def test_what_is_written_is_read(folder, records):
    path = folder / "written.jsonl"
    path.unlink(missing_ok=True)
    writer = CrawlLogWriter(path)
    for record in records:
        writer.write(record)
    writer.close()
    reading = read_visits(path)
    assert list(reading) == [expected(record) for record in records]
    assert (reading.records, reading.unreadable_count, reading.torn) == (len(records), 0, 0)


@given(st.data(), st.lists(pages, min_size=1, max_size=5))
def test_a_log_cut_anywhere_loses_its_last_record_at_most(folder, data, records):
    path = wrote(folder / "cut.jsonl", *records)
    whole = path.read_bytes()
    at = data.draw(st.integers(1, len(whole)))
    path.write_bytes(whole[:at])
    reading = read_visits(path)
    kept = whole[:at].count(b"\n")
    try:
        found = list(reading)
    except CrawlLogError:
        assert kept == 0
        found = []
    assert found[:kept] == [expected(record) for record in records[:kept]]
    # Without its newline a record is whole.
    complete = whole[at : at + 1] == b"\n"
    assert len(found) == kept + complete
    assert reading.unreadable_count == 0
    assert reading.torn == (not complete and whole[at - 1 : at] != b"\n")


garbage = st.one_of(
    st.binary(max_size=50),
    st.sampled_from(
        [b"[]", b"{}", b'{"url": 3}', b"null", b"[" * 100_000, b'{"url": "' + b"\0" + b'"}', b"\xff"]
    ),
    st.sampled_from(
        [b'{"url": "u"} {"url": "v"}', b"9" * 10_000, b'{"url": "u", "size": 1e999}', b'"\\ud800"']
    ),
).map(lambda line: line.replace(b"\n", b"").replace(b"\r", b"") or b"x")


@given(st.lists(st.none() | garbage, max_size=60))
def test_garbage_is_counted_and_named_and_nothing_else_is_lost(folder, lines):
    record = b'{"url": "http://a.test/"}'
    path = folder / "garbage.jsonl"
    path.write_bytes(b"\n".join([record] + [record if line is None else line for line in lines]) + b"\n")
    reading = read_visits(path)
    found = list(reading)
    bad = [n for n, line in enumerate(lines, start=2) if line is not None and line.strip()]
    # White space that is no newline may stand alone on a line; UTF-8 has more of it than bytes know.
    blank = [n for n in bad if not lines[n - 2].decode("utf-8", "replace").removeprefix("\ufeff").strip()]
    assert len(found) == reading.records == 1 + lines.count(None)
    assert reading.unreadable_count == len(bad) - len(blank)
    assert [(one.path, one.line) for one in reading.unreadable] == [
        (str(path), n) for n in bad if n not in blank
    ][:20]
    assert all(one.reason for one in reading.unreadable)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{}", "no 'url'"),
        (b'{"url": ""}', "'url' is '', not a URL"),
        (b'{"url": " "}', "'url' is ' ', not a URL"),
        (b'{"url": 3}', "'url' is 3, not a URL"),
        (b'{"url": "u", "status": true}', "'status' is True, not a whole number"),
        (b'{"url": "u", "status": "abc"}', "'status' is 'abc', not a whole number"),
        (b'{"url": "u", "status": 20000}', "'status' is 20000, not an HTTP status"),
        (b'{"url": "u", "size": -1}', "'size' is -1, not a whole number"),
        (b'{"url": "u", "size": [3, 2]}', "'size' is [3, 2], neither bytes nor [min, max]"),
        (b'{"url": "u", "size": [3]}', "'size' is [3], neither bytes nor [min, max]"),
        (b'{"url": "u", "size": 9223372036854775808}', "'size' is 9223372036854775808, not a whole number"),
        (b'{"url": "u", "size": NaN}', "'size' is nan, not a whole number"),
        (b'{"url": "u", "sketch": [1, "x"]}', "'sketch' is [1, 'x'], not a list of integers"),
        (b'{"url": "u", "sketch": [1.5]}', "'sketch' is [1.5], not a list of integers"),
        (b'{"url": "u", "sketch": 5}', "'sketch' is 5, not a list of integers"),
        (b'{"url": "u", "sketch": "a b"}', "'sketch' is 'a b', not a list of integers"),
        (b'{"url": "u", "title": 5}', "'title' is 5, not a string"),
        (b'{"url": "u", "canonical": ["x"]}', "'canonical' is ['x'], not a string"),
        (b'{"url": "u", "outlinks": 1.5}', "'outlinks' is 1.5, not a whole number"),
        (b'{"url": "u", "sketch_version": "new"}', "'sketch_version' is 'new', not a whole number"),
        (b'["u"]', "not a JSON object"),
        (b"{'url': 'u'}", "not JSON: Expecting property name enclosed in double quotes at character 2"),
        (b'{"url": "u"}{"url": "v"}', "more than one JSON value, from character 13"),
        (b'{"url": "\xe9"}', "not UTF-8"),
    ],
)
def test_the_reason_names_the_field(folder, line, reason):
    reading = read_visits(wrote(folder / "bad.jsonl", {"url": "first"}, line + b"\n"))
    assert len(list(reading)) == 1
    assert reading.unreadable == [(str(folder / "bad.jsonl"), 2, reason)]


def test_sizes_and_numbers_may_be_ranges_strings_or_floats_that_are_whole(folder):
    assert visit_of(folder, size=5).size == (5, 5)
    assert visit_of(folder, size=[5, 7]).size == (5, 7)
    assert visit_of(folder, size="[5, 7.0]").size == (5, 7)
    assert visit_of(folder, size="5").size == visit_of(folder, size=5.0).size == (5, 5)
    assert visit_of(folder, status="200").status == visit_of(folder, status="200.0").status == 200
    assert visit_of(folder, status=None, size=None, sketch=None) == Visit(URL)
    assert visit_of(folder, status="", size="", sketch="", title="", canonical="") == Visit(URL)
    assert visit_of(folder, sketch=[]).sketch is None


def test_sketches_of_others_may_be_of_any_width_and_length(folder):
    assert visit_of(folder, sketch=[-1, 2**64 - 1]).sketch == (-1, 2**64 - 1)
    assert visit_of(folder, sketch="1 2 3").sketch == visit_of(folder, sketch="[1,2,3]").sketch == (1, 2, 3)


def test_relative_targets_become_absolute(folder):
    assert visit_of(folder, redirect_to="/x", canonical="y").redirect_to == "http://a.test/x"
    assert visit_of(folder, canonical="https://b.test/y").canonical == "https://b.test/y"
    assert visit_of(folder, canonical="//[x").canonical is None


def test_fields_that_nobody_knows_are_ignored(folder):
    assert visit_of(folder, cluster_exact=3, words="many", flags={"a": 1}) == Visit(URL)


def test_our_own_records_are_what_was_recorded(folder):
    page = describe(b"<title>T</title><p>words<a href=x>y</a>", "text/html", None, URL)
    fetched = {"fetched_at": NOW}
    shown, moved, failed = visits_of(
        record_of_page(URL, 200, page, size=39, content_type="text/html", wire_size=30, **fetched),
        record_of_redirect(URL + "a", 301, URL, latency=0.25, flags=[], **fetched),
        record_of_failure(URL + "b", "TimeoutError", referrer=None, **fetched),
        folder=folder,
    )
    assert shown == Visit(
        URL, 200, (39, 39), page.sketch, page.digest, page.text_digest, page.simhash, "T", "text/html",
        outlinks=1, fetched_at=TIME, units=pack(page.units),
    )  # fmt: skip
    assert moved == Visit(URL + "a", 301, redirect_to=URL, fetched_at=TIME)
    assert failed == Visit(URL + "b", fetched_at=TIME, failed=True)
    assert not failed.is_page


def test_records_say_only_what_is_known():
    assert record_of_failure(URL, "E", fetched_at=NOW, latency=None, flags=()) == {
        "url": URL,
        "error": "E",
        "fetched_at": TIME,
    }
    page = record_of_page(URL, 200, describe(b"", None, None, URL), size=0, fetched_at=NOW)
    assert (page["size"], page["words"], page["sketch_version"]) == (0, 0, SKETCH_VERSION)
    assert "title" not in page


def test_sketches_of_another_version_are_left_out_and_counted(folder):
    record = {"url": URL, "sketch": [1, 2], "text_digest": "d"}
    reading = read_visits(
        wrote(
            folder / "versions.jsonl",
            record | {"sketch_version": SKETCH_VERSION + 1},
            record | {"sketch_version": SKETCH_VERSION},
            record,
            {"url": URL, "sketch_version": SKETCH_VERSION + 1},
        )
    )
    assert [visit.sketch for visit in reading] == [None, (1, 2), (1, 2), None]
    assert reading.foreign_sketches == 1


@pytest.mark.parametrize(
    "pack", [gzip.compress, bz2.compress, lzma.compress, lambda content: _zstd().compress(content)]
)
def test_what_is_compressed_is_known_by_its_bytes(tmp_path, pack):
    path = tmp_path / "log.jsonl"
    path.write_bytes(pack(b'{"url": "u"}\n') + pack(b'{"url": "v"}\n'))
    assert [visit.url for visit in read_visits(path)] == ["u", "v"]


@pytest.mark.once
@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("gzip", gzip.compress),
        ("bzip2", lambda content: bz2.compress(content, 1)),
        ("xz", lzma.compress),
        ("zstd", lambda content: _zstd().compress(content)),
    ],
)
@pytest.mark.parametrize("damage", [False, True])
def test_a_compressed_stream_that_breaks_off_gives_what_was_before(tmp_path, name, pack, damage):
    path = tmp_path / "log.jsonl.gz"
    lines = b"".join(
        b'{"url": "http://a.test/%d", "title": "%d"}\n' % (n, n * 7919**3 % 100_003) for n in range(40_000)
    )
    packed = pack(lines)
    cut = len(packed) * 9 // 10
    path.write_bytes(packed[:cut] + (b"\xff" * 1000 + packed[cut:] if damage else b""))
    reading = read_visits(path)
    assert len(list(reading)) > 20_000
    assert reading.unreadable_count >= 1
    # Where bytes are wrong, what is made of them is garbage for a while.
    if not damage:
        (cut,) = [bad for bad in reading.unreadable if "stream is damaged" in bad.reason]
        assert cut.reason.startswith(f"the {name} stream is damaged from here on")
        assert reading.unreadable_count + reading.torn <= 2


def test_what_only_begins_like_gzip_is_an_error(tmp_path):
    (tmp_path / "log.jsonl").write_bytes(b"\x1f\x8b" + b"x" * 100)
    with pytest.raises(CrawlLogError, match="gzip stream is damaged"):
        list(read_visits(tmp_path / "log.jsonl"))


def test_logs_of_a_folder_are_read_in_the_order_they_began_in(tmp_path):
    began = [("a", 3), ("b", 1), ("a", 2)]
    for spider, day in began:
        writer = CrawlLogWriter(new_log_path(tmp_path, spider, datetime(2026, 1, day, tzinfo=UTC)))
        writer.write({"url": f"{spider}{day}"})
        writer.close()
    (tmp_path / "notes.txt").write_text("not a log")
    (tmp_path / "verdicts.json").write_text("{}")
    (tmp_path / ".hidden.jsonl").write_text("not a log")
    reading = read_visits(tmp_path)
    assert [visit.url for visit in reading] == ["b1", "a2", "a3"]
    assert len(reading.files) == 3
    assert [visit.url for visit in read_visits(str(tmp_path / "a"))] == ["a2", "a3"]
    assert [visit.url for visit in read_visits([tmp_path / "b", tmp_path])] == ["b1", "a2", "a3"]


def test_a_glob_names_files_and_folders(tmp_path):
    for name in ("x1.jsonl", "x2.jsonl", "y.jsonl"):
        wrote(tmp_path / name, {"url": name})
    (tmp_path / "x3").mkdir()
    wrote(tmp_path / "x3" / "z.jsonl", {"url": "z"})
    assert [visit.url for visit in read_visits(f"{tmp_path}/x*")] == ["x1.jsonl", "x2.jsonl", "z"]


def test_each_iteration_reads_anew(folder):
    reading = read_visits(wrote(folder / "twice.jsonl", {"url": "u"}, b"x\n"))
    assert list(reading) == list(reading)
    assert (reading.records, reading.unreadable_count, len(reading.unreadable)) == (1, 1, 1)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "there is no record in it"),
        (b"\n\n", "there is no record in it"),
        (b"torn", "there is no record in it"),
        (
            b'1.2.3.4 - - [10/Oct/2000] "GET / HTTP/1.0" 200\n',
            "none of its lines is a record (line 1: not a JSON object)",
        ),
        (b"\xff\xfe\n\n", "none of its lines is a record (line 1: not UTF-8)"),
        (b'x\n{"url": 3}\n', "line 1: not a JSON object"),
    ],
)
def test_a_file_without_a_record_is_an_error_in_one_sentence_that_names_it(tmp_path, content, said):
    path = tmp_path / "log"
    path.write_bytes(content)
    with pytest.raises(CrawlLogError) as caught:
        list(read_visits(path))
    assert said in str(caught.value)
    assert str(caught.value).startswith(f"{path}: ")


def test_a_log_that_has_just_begun_is_no_error_beside_others(tmp_path):
    wrote(tmp_path / "1.jsonl", {"url": "u"})
    (tmp_path / "2.jsonl").write_bytes(b"")
    (tmp_path / "3.jsonl").write_bytes(b'{"url": "ht')
    reading = read_visits(tmp_path)
    assert len(list(reading)) == reading.torn == 1
    (tmp_path / "1.jsonl").unlink()
    with pytest.raises(CrawlLogError, match="its logs have no record yet"):
        list(read_visits(tmp_path))


def test_a_file_that_is_no_log_is_an_error_after_the_visits_before_it(tmp_path):
    wrote(tmp_path / "1.jsonl", {"url": "u"})
    wrote(tmp_path / "2.jsonl", b"garbage\n")
    reading = iter(read_visits(tmp_path))
    assert next(reading).url == "u"
    with pytest.raises(CrawlLogError, match=r"2\.jsonl: none of its lines"):
        next(reading)


@pytest.mark.parametrize("name", ["missing", "missing*.jsonl", "empty"])
def test_what_is_not_there_is_said_before_anything_is_read(tmp_path, name):
    (tmp_path / "empty").mkdir()
    with pytest.raises(CrawlLogError) as caught:
        read_visits([tmp_path / name])
    assert str(tmp_path / name) in str(caught.value)


def test_a_format_of_the_future_is_refused_by_name(folder):
    with pytest.raises(ValueError, match="format 'har' is not read by this version, which reads auto, dust"):
        read_visits(folder, "har")
    with pytest.raises(ValueError, match="no crawl log is named"):
        read_visits([])


def test_the_end_of_a_finished_list_is_not_torn(folder):
    path = wrote(folder / "end.jsonl", {"url": "u"}, b'{"url": "')
    for log_format, counts in (("auto", (1, 0)), ("dust", (1, 0)), ("jsonl", (0, 1))):
        reading = read_visits(path, log_format)
        assert len(list(reading)) == 1
        assert (reading.torn, reading.unreadable_count) == counts


def test_a_line_of_any_length_is_no_danger(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "MAX_LINE", 1000)
    monkeypatch.setattr(format_readers, "MAX_LINE", 1000)
    fits = b'{"url": "fits", "x": "' + b"y" * 975 + b'"}\n'
    assert len(fits) == 1000
    too_long = b'{"url": "' + b"x" * 50_000 + b'"}\n'
    reading = read_visits(wrote(tmp_path / "long.jsonl", too_long, {"url": "next"}, fits, too_long[:-1]))
    assert [visit.url for visit in reading] == ["next", "fits"]
    assert [line.line for line in reading.unreadable] == [1, 4]
    assert reading.unreadable[0].reason.startswith("longer than")


@pytest.mark.once
def test_memory_does_not_grow_with_the_log(tmp_path):
    path = tmp_path / "big.jsonl"
    path.write_bytes(
        b"".join(b'{"url": "http://a.test/%d", "title": "%s"}\n' % (n, b"x" * 500) for n in range(20_000))
    )
    tracemalloc.start()
    assert sum(1 for _ in read_visits(path)) == 20_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2_000_000


def csv_of(folder, content, name="list.csv", **options):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    reading = read_visits(path, **options)
    return list(reading), reading


def test_csv_has_the_same_fields_in_named_columns(folder):
    visits, _ = csv_of(
        folder,
        "Title,url,status,size,sketch,canonical,other\n"
        '"a, ""b""\nc",http://a.test/,200,"[3, 4]",1 2 3 4,,x\n'
        ',http://a.test/2,200.0,5,"[1, 2]",/c,\n'
        "\n"
        ",http://a.test/3,,,,,\n",
    )
    assert visits == [
        Visit(URL, 200, (3, 4), (1, 2, 3, 4), title='a, "b"\nc'),
        Visit(URL + "2", 200, (5, 5), (1, 2), canonical=URL + "c"),
        Visit(URL + "3"),
    ]


@pytest.mark.parametrize("name", ["urls.csv", "urls.tsv", "urls", "urls.txt"])
@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_csv_is_known_by_its_name_or_its_header_and_any_delimiter(folder, name, mark, start):
    visits, _ = csv_of(folder, f"{start}url{mark}status\r\nhttp://a.test/{mark}404\r\n", name)
    assert visits == [Visit(URL, 404)]


def test_a_list_of_urls_under_a_header_is_enough(folder):
    visits, _ = csv_of(folder, "url\nhttp://a.test/\nhttp://a.test/2", "list.txt")
    assert visits == [Visit(URL), Visit(URL + "2")]


def test_rows_of_csv_that_cannot_be_read_are_named(folder):
    visits, reading = csv_of(
        folder, b"url,status\na,200\nb\nc,200,x\nd,many\n\xff,1\n" + b"e" * 200_000 + b",200\n,200\nf,200\n"
    )
    assert [visit.url for visit in visits] == ["a", "f"]
    assert [(line.line, line.reason.partition(" ")[0]) for line in reading.unreadable] == [
        *((3, "1"), (4, "3"), (5, "'status'"), (6, "not"), (7, "not"), (8, "'url'"))
    ]


def test_csv_without_a_url_column_is_an_error(folder):
    for log_format in ("auto", "csv"):
        with pytest.raises(CrawlLogError, match="has no column 'url'"):
            csv_of(folder, "address,status\nx,200\n", format=log_format)


@given(st.binary())
def test_no_file_is_too_strange(folder, content):
    for name in ("any.jsonl", "any.csv", "any"):
        path = folder / name
        path.write_bytes(content)
        with suppress(CrawlLogError):
            list(read_visits(path))


def test_visits_are_grouped_by_site_in_the_logs_order():
    log = [
        Visit(url) for url in ("http://www.a.test/1", "http://b.test/", "ftp://x/", "http://a.test/2", "junk")
    ]
    found = visits_by_site(log)
    assert list(found) == ["a.test", "b.test"]
    assert found["a.test"] == [log[0], log[3]]
    assert found.without_site == 2


@pytest.mark.once
def test_the_crawls_of_real_sites_are_read_to_the_last_line(shared_data):
    reading = read_visits(shared_data / "sites")
    with gzip.open(shared_data / "uci" / "pages.jsonl.gz") as uci:
        lines = sum(1 for _ in uci)
    assert sum(1 for _ in read_visits(shared_data / "uci" / "pages.jsonl.gz")) == lines == 38_347
    assert sum(1 for visit in reading if visit.is_page) > 40_000
    assert reading.unreadable_count == reading.torn == 0


def test_of_a_dust_dir_the_logs_are_read_and_not_what_tells_of_urls_that_were_not_fetched(tmp_path):
    for name in ("logs/journal", "journal/spider", "requeue/spider"):
        folder = tmp_path / name
        folder.mkdir(parents=True)
        (folder / "20261118T100000.000000Z-1-aaaaaaaa.jsonl").write_text(
            f'{{"url": "http://a.test/{name}"}}\n'
        )
    assert [visit.url for visit in read_visits(tmp_path)] == ["http://a.test/logs/journal"]
    assert [visit.url for visit in read_visits(tmp_path / "logs")] == ["http://a.test/logs/journal"]
