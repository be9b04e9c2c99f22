"""Logs at URIs: written here, moved there when a crawl has ended, and read from both as if they were in one folder."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from uuid import uuid4

import pytest

from scrapy_dust.crawl_log import (
    CrawlLogWriter,
    log_dir,
    log_sources,
    new_log_path,
    read_visits,
    remote_logs,
    segments,
    spider_log_dir,
)
from scrapy_dust.crawl_log.log_upkeep import hider, move_and_compact_logs
from scrapy_dust.crawl_log.retention import Keep
from scrapy_dust.errors import CrawlLogError

fsspec = pytest.importorskip("fsspec", reason="URIs need fsspec")


@pytest.fixture(params=["memory", "file"])
def uri(request, tmp_path, monkeypatch):
    """A DUST_DIR that is none of this machine's folders, for a project in a folder of its own."""
    project = tmp_path / "project"
    project.mkdir()
    (project / "scrapy.cfg").write_text("[settings]\n")
    monkeypatch.chdir(project)
    path = tmp_path / "store" if request.param == "file" else Path("/") / uuid4().hex
    return f"{request.param}://{path}/dust"


def wrote(uri, *urls, spider="s"):
    path = new_log_path(log_dir(uri), spider)
    writer = CrawlLogWriter(path)
    for url in urls:
        writer.write({"url": url})
    writer.close()
    return path


def there(uri):
    return [file.name for file in remote_logs.remote_files(uri)]


def test_a_log_is_written_here_and_moved_there_when_it_has_ended(uri):
    log = wrote(uri, "http://a.test/1", "http://a.test/2")
    assert Path(".scrapy") in log.relative_to(Path.cwd()).parents
    assert there(uri) == []
    assert move_and_compact_logs(uri, Keep(), compacting=False) == []
    assert not log.exists()
    assert there(uri) == [log.with_suffix(".parquet" if segments.can_write() else ".jsonl.gz").name]
    (source,) = log_sources(uri, "s")
    assert [visit.url for visit in read_visits(source)] == ["http://a.test/1", "http://a.test/2"]


def test_logs_that_are_still_here_are_read_with_those_there(uri):
    wrote(uri, "there")
    move_and_compact_logs(uri, Keep(), compacting=False)
    writer = CrawlLogWriter(new_log_path(log_dir(uri), "s"))
    writer.write({"url": "here"})
    assert move_and_compact_logs(uri, Keep(), compacting=False) == []
    assert [visit.url for visit in read_visits(log_sources(uri))] == ["here", "there"]
    writer.close()


def test_a_crash_before_the_log_is_removed_here_shows_no_record_twice(uri, monkeypatch):
    log = wrote(uri, "u")
    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", lambda *_, **__: Path("/nonexistent/crash").stat())
        move_and_compact_logs(uri, Keep(), compacting=False)
    assert len(list(log.parent.iterdir())) > 0
    assert [visit.url for visit in read_visits(log_sources(uri))] == ["u"]
    move_and_compact_logs(uri, Keep(), compacting=False)
    assert [visit.url for visit in read_visits(log_sources(uri))] == ["u"]


def test_each_spider_has_a_folder_there_too(uri):
    for spider in ("a", "b/c"):
        wrote(uri, spider, spider=spider)
    move_and_compact_logs(uri, Keep(), compacting=False)
    assert [visit.url for visit in read_visits(log_sources(uri, "b/c"))] == ["b/c"]
    assert len(list(read_visits(log_sources(uri)))) == 2
    assert log_sources(uri, "none") == []


def test_retention_is_applied_there(uri):
    for number in range(4):
        wrote(uri, str(number))
    move_and_compact_logs(uri, Keep(crawls=2), compacting=False)
    assert [visit.url for visit in read_visits(log_sources(uri))] == ["2", "3"]


def test_two_machines_have_one_key(uri, tmp_path, monkeypatch):
    one = hider(uri, ("token",))
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    assert hider(uri, ("token",)).key == one.key
    assert len(one.key) == 32


def test_any_log_at_a_uri_is_read_by_name_folder_or_glob(uri):
    store, path = fsspec.core.url_to_fs(uri)
    store.makedirs(path, exist_ok=True)
    store.pipe_file(f"{path}/one.jsonl.gz", gzip.compress(json.dumps({"url": "one"}).encode() + b"\n"))
    store.pipe_file(f"{path}/two.jsonl", b'{"url": "two"}\n')
    store.pipe_file(f"{path}/notes.txt", b"no log")
    assert [visit.url for visit in read_visits(f"{uri}/one.jsonl.gz")] == ["one"]
    assert [visit.url for visit in read_visits(uri)] == ["one", "two"]
    assert [visit.url for visit in read_visits(f"{uri}/t*.jsonl")] == ["two"]


def test_what_is_not_there_is_said_in_a_sentence(uri):
    with pytest.raises(CrawlLogError, match=r"no log is there\. Crawl first, or check the URI\."):
        read_visits(uri + "/none")


@pytest.mark.parametrize("scheme", ["nosuch", "abfs2"])
def test_a_scheme_that_nobody_knows_is_said_in_a_sentence(scheme):
    with pytest.raises(CrawlLogError, match="fsspec cannot reach it"):
        read_visits(f"{scheme}://x/y")
    (said,) = move_and_compact_logs(f"{scheme}://x/y", Keep(crawls=1), compacting=False)
    assert "fsspec cannot reach it" in said


def test_a_store_that_fails_leaves_the_log_here_and_says_so(uri, monkeypatch):
    log = wrote(uri, "u")

    def fail(*_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(remote_logs, "_file_system", fail)
    said = move_and_compact_logs(uri, Keep(), compacting=False)
    assert any("Input/output error" in one for one in said)
    assert list(log.parent.iterdir())


def test_without_fsspec_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(CrawlLogError, match=r"needs fsspec.*pip install scrapy-dust\[uri\]"):
        read_visits("memory://x")


def test_a_folder_is_not_taken_for_a_uri(tmp_path):
    assert log_dir(tmp_path) == tmp_path / "logs"
    assert spider_log_dir(tmp_path, "s").parent == tmp_path
