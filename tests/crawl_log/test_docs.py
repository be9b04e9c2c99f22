"""What docs/crawl-log.md shows of other tools works on the log as it is, with those of them that are installed."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from scrapy_dust.crawl_log import CrawlLogWriter, segments
from scrapy_dust.crawl_log.compaction import compact
from scrapy_dust.crawl_log.log_names import new_name
from tests.crawl_log.test_compaction import RECORD

PAGE = (Path(__file__).parents[2] / "docs" / "crawl-log.md").read_text("utf-8")
SHOWN = PAGE.partition("## Reading it elsewhere")[2]


def shown(language, word):
    (block,) = (code for code in re.findall(rf"```{language}\n(.*?)```", SHOWN, re.DOTALL) if word in code)
    return block


@pytest.fixture
def _logs(tmp_path, monkeypatch):
    """Two crawls of one spider, as Parquet, in which one text has three URLs; and one that still runs."""
    monkeypatch.chdir(tmp_path)
    for text, urls in (("once", ["a"]), ("thrice", ["a", "b", "c"])):
        writer = CrawlLogWriter(Path("logs", "myspider", new_name(datetime.now(UTC))))
        for url in urls:
            writer.write(RECORD | {"url": f"http://a.test/{text}/{url}", "text_digest": text})
        writer.close()
    compact(Path("logs"))
    Path("logs", "myspider", new_name(datetime.now(UTC))).write_text('{"url": "http://a.test/live"}\n{"u')


@pytest.mark.usefixtures("_logs")
@pytest.mark.parametrize(("module", "word"), [("pandas", "import pandas"), ("polars", "import polars")])
def test_python(module, word, capsys):
    pytest.importorskip(module, reason=f"{module} reads the log, but nothing of ours needs it")
    pytest.importorskip("pyarrow", reason="the log is Parquet only where pyarrow is installed")
    exec(shown("python", word), {})
    said = capsys.readouterr().out
    assert re.search(r"thrice\W+3\b", said)
    assert re.search(r"once\W+1\b", said)


@pytest.mark.usefixtures("_logs")
def test_duckdb():
    duckdb = pytest.importorskip("duckdb", reason="DuckDB reads the log, but nothing of ours needs it")
    pytest.importorskip("pyarrow", reason="the log is Parquet only where pyarrow is installed")
    assert duckdb.connect().execute(shown("sql", "select")).fetchall() == [("thrice", 3), ("once", 1)]


def test_every_column_of_a_segment_is_described():
    table = PAGE.partition("## As Parquet")[2].partition("## Reading")[0]
    described = set(
        re.findall(r"`(\w+)`", "".join(line.split("|")[1] for line in table.splitlines() if "|" in line))
    )
    assert described == {*segments.COLUMNS, segments.EXTRA}
