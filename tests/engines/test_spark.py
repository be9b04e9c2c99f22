"""What Spark's workers do, without Spark; and Spark itself, where it is installed."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks import shops
from benchmarks import spark as benchmark
from scrapy_dust.crawl_log import segments
from scrapy_dust.crawl_log.parquet import layout_of, records_of
from scrapy_dust.crawl_log.reader import read_visits
from scrapy_dust.engines import spark_tasks as tasks
from scrapy_dust.engines.local import mine_log
from scrapy_dust.page.site_log import site_log
from scrapy_dust.propose.edits.pooling import NOTHING_POOLED
from scrapy_dust.settings import DustSettings
from scrapy_dust.sites import site_of
from scrapy_dust.trials.learning import mine
from scrapy_dust.trials.reading import Reporter, Source, read

SETTINGS = DustSettings()


def records(count, sites=3):
    return list(benchmark.records(count, sites))


def chunked(parts, host=None):
    """What workers make of *parts*: of each the place of its file, where it begins in it, and its records."""
    files = {f"/{place}": tasks.LogFile(place, f"/{place}", False) for place, _, _ in parts}
    for place, begins, some in parts:
        table = segments._table(some, segments._schema())
        count = len(some)
        table = table.append_column(tasks.FILE, pa.array([f"file:///{place}"] * count))
        table = table.append_column(tasks.ROW, pa.array(range(begins, begins + count), pa.int64()))
        layout = layout_of(table.schema.names)
        yield from tasks.chunks_of_rows(table.to_batches(), files, layout, host)


def mined(chunks, size=5, parts=2):
    """As Spark brings them together: all of a site in one part, sorted, in batches of any size."""
    table = pa.Table.from_batches(chunks, tasks._CHUNK_SCHEMA)
    names = sorted(set(table["site"].to_pylist()))
    done = []
    for part in range(parts):
        some = table.filter(pa.compute.is_in(table["site"], pa.array(names[part::parts], pa.large_string())))
        rows = some.sort_by([(name, "ascending") for name in ("site", "file", "row")])
        done += tasks.mine_sites(rows.to_batches(size), SETTINGS, NOTHING_POOLED, redirects_count=True)
    return tasks.results(tuple(column[0].as_py() for column in one.columns) for one in done)


def without_times(found):
    return [replace(one, laps={}) for one in found]


@pytest.mark.once
@settings(max_examples=15)
@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(1, 20), st.integers(1, 3))
def test_however_rows_are_cut_and_brought_together_the_same_is_mined(seed, size, together, cores):
    chance, made = random.Random(seed), records(60)
    parts = [(place, 0, made[place * 20 : (place + 1) * 20]) for place in range(3)]
    parts = [(p, b + at, some[at : at + size]) for p, b, some in parts for at in range(0, len(some), size)]
    chance.shuffle(parts)
    chunks = list(chunked(parts))
    chance.shuffle(chunks)
    seen, there = mined(chunks, together, cores)
    visits = {}
    for record in made:
        for visit in [tasks.as_visit(record)[0]]:
            visits.setdefault(site_of(visit.url), []).append(visit)
    here = [
        mine_log(site, site_log(visits[site]), SETTINGS, redirects_count=True)
        for site in sorted(visits, key=lambda site: (-len(visits[site]), site))
    ]
    assert without_times(there) == without_times(here)
    assert seen.records == len(made)
    assert seen.latest == max(record["fetched_at"] for record in made)


def test_pages_in_units_are_told_apart_there_as_they_are_here():
    made = list(shops.clean(90))
    _, there = mined(chunked([(0, 0, made[:40]), (1, 0, made[40:])]))
    visits = [tasks.as_visit(record)[0] for record in made]
    here = mine_log("shop.test", site_log(visits), SETTINGS, redirects_count=True)
    assert all(page.core for page in here.log.pages)
    assert here.edits
    assert without_times(there) == [replace(here, laps={})]


def test_what_cannot_be_read_is_named_by_its_row_and_counted():
    made = [
        {"url": "http://a.test/", "status": 200},
        {"url": " "},
        {"url": "http://a.test/b", "status": 4000},
    ]
    seen, there = mined(chunked([(7, 100, made)]))
    assert (seen.records, seen.unreadable, len(there)) == (1, 2, 1)
    assert [(line.path, line.line) for line in seen.named] == [("/7", 102), ("/7", 103)]


def test_only_the_host_that_is_asked_for_and_those_below_it_are_mined():
    made = [
        {"url": f"http://{host}/", "status": 200} for host in ("a.test", "www.a.test", "b.test", "xa.test")
    ]
    _, there = mined(chunked([(0, 0, made)], host="a.test"))
    assert [(one.site, len(one.log.pages)) for one in there] == [("a.test", 2)]


def test_a_file_of_lines_is_read_as_it_is_here(tmp_path):
    path = tmp_path / "log.jsonl"
    lines = [json.dumps(record) for record in records(60)]
    path.write_text("\n".join([*lines[:30], "no record", *lines[30:]]) + "\n")
    batch = pa.record_batch({"path": [f"file://{path}"], "content": [path.read_bytes()]})
    files = {str(path): tasks.LogFile(0, str(path), True)}
    seen, there = mined(tasks.chunks_of_files([batch], files, "dust", None))
    source = read(Source([str(path)]), Reporter())
    assert [f"{line.path}, line {line.line}: {line.reason}" for line in seen.named] == list(source.named)
    here = list(mine(source.visits, SETTINGS, Reporter()))
    assert [one.log for one in there] == [one.log for one in here]


def test_a_table_says_the_same_to_who_does_not_see_its_file(tmp_path):
    made = records(40)
    segments.write(made, tmp_path / "own.parquet")
    named = {
        "URL": [one["url"] for one in made],
        "size": pa.array([one["size"] for one in made], pa.decimal128(20)),
    }
    pq.write_table(pa.table(named), tmp_path / "named.parquet")
    index = {
        "url": [one["url"] for one in made],
        "fetch_status": [200] * len(made),
        "content_digest": [one["digest"] for one in made],
        "content_truncated": ["length" if number % 3 == 0 else None for number in range(len(made))],
    }
    pq.write_table(pa.table(index), tmp_path / "index.parquet")
    for name in ("own", "index"):
        table = pq.read_table(tmp_path / f"{name}.parquet")
        layout = layout_of(table.schema.names)
        found = [tasks.as_visit(one)[0] for batch in table.to_batches() for one in records_of(batch, layout)]
        assert found == list(read_visits(tmp_path / f"{name}.parquet"))
    table = pq.read_table(tmp_path / "named.parquet")
    found = [one for batch in table.to_batches() for one in records_of(batch, layout_of(table.schema.names))]
    assert found == [{"url": one["url"], "size": one["size"]} for one in made]
    assert layout_of(["status"]) is None


@pytest.mark.parametrize(
    ("uri", "name"),
    [
        ("file:/a%20b/c", "/a b/c"),
        ("file:///a%25/c", "/a%/c"),
        ("/a b/c", "/a b/c"),
        ("s3a://x/y%20z", "s3a://x/y z"),
    ],
)
def test_the_names_of_files_are_told_in_one_spelling(uri, name):
    assert tasks.bare(uri) == name


@pytest.fixture
def cluster(tmp_path):
    if (why := benchmark.missing()) is not None:
        pytest.skip(f"{why}: a cluster of Spark's own needs Java 17 and `pip install scrapy-dust[spark]`")
    with benchmark.cluster(tmp_path, in_haste=True) as found:
        yield found


@pytest.mark.e2e
def test_a_cluster_makes_the_same_rule_book_as_this_machine_and_does_so_when_a_worker_is_killed(
    cluster, tmp_path
):
    log = tmp_path / "log"
    benchmark.write_log(log, benchmark.records(1500, 40))
    segments.write(list(shops.clean(300)), log / "units.parquet")
    runs = [
        (benchmark.arguments(log, tmp_path / name, engine), group)
        for name, engine, group in (
            ("here", "local", 0),
            ("whole", "spark", 0),
            ("killed", "spark", cluster.processes[1].pid),
        )
    ]
    _, here, whole, middle, killed = benchmark.finished(
        benchmark.mine_several(runs, cluster.mining()), seconds=240
    )
    assert here["valid"]
    assert 0 < middle["done"] < middle["parts"]
    cluster.wait(lambda state: state["aliveworkers"] == 1)
    for there in (whole, killed):
        assert (there["pages"], there["sites"]) == (here["pages"], here["sites"])
    book, *books = ((tmp_path / name / "rules.json").read_bytes() for name in ("here", "whole", "killed"))
    assert books == [book, book]
