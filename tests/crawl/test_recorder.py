"""The process beside a crawl: it writes what the crawl itself would have, and outlives what happens to either."""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
from pathlib import Path

import pytest

from scrapy_dust.crawl import recorder as module
from scrapy_dust.crawl.recorder import RecorderBeside, recorder
from scrapy_dust.crawl_log.hiding import Hider
from scrapy_dust.crawl_log.recording import Body
from tests.crawl.crawling import crawl
from tests.crawl.site import HANG_UP, Answer, error, page, redirect, serving
from tests.waiting import wait_until

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pipes of Windows cannot be waited for")

BODY = Body(b"<title>T</title><p>some words</p><link rel=canonical href=/p?token=secret>", "text/html", None)


@pytest.fixture
def log(tmp_path):
    return tmp_path / "log.jsonl"


@pytest.fixture
def beside(log):
    made = RecorderBeside(log, None, ())
    yield made
    made.close()


def lines(log):
    return [json.loads(line) for line in log.read_bytes().splitlines()]


def add(beside, number, body=BODY):
    beside.add({"url": f"http://a.test/{number}", "status": 200}, body)
    beside.flush()


def wait_for(log, count):
    wait_until(lambda: len(lines(log)) >= count)


def test_a_crawl_records_the_same_beside_it_as_in_it(settings, tmp_path):
    answers = {
        "/page": page("/x", words="ten words of a page that says what it has to say"),
        "/moved": redirect("/page2", 301),
        "/page2": Answer("ünï".encode("latin-1"), 200, {"Content-Type": "text/plain; charset=latin-1"}),
        "/404": error(404),
        "/silent": HANG_UP,
    }
    found = []
    # Links are hashed with their host, and names are told in the order of the answers.
    unlike = {"fetched_at", "latency", "places"}
    with serving(answers.__getitem__) as site:
        for beside in (False, True):
            own = {"DUST_DIR": str(tmp_path / str(beside)), "DUST_LOG_PROCESS": beside}
            crawl([site.url(path) for path in ("/page", "/moved", "/404", "/silent")], settings | own)
            (file,) = Path(own["DUST_DIR"]).rglob("*.jsonl")
            records = [
                {name: value for name, value in json.loads(line).items() if name not in unlike}
                for line in file.read_text().splitlines()
            ]
            found.append(sorted(records, key=str))
    assert found[0] == found[1]
    assert len(found[1]) == 6


def test_all_is_written_when_it_is_closed(log):
    beside = RecorderBeside(log, None, ())
    for number in range(300):
        beside.add({"url": f"http://a.test/{number}", "status": 200}, BODY)
    beside.close()
    assert [line["url"] for line in lines(log)] == [f"http://a.test/{n}" for n in range(300)]
    assert lines(log)[0]["title"] == "T"


def test_it_writes_without_being_closed(log, beside):
    add(beside, 1)
    wait_for(log, 1)


def test_a_crawl_that_waits_for_an_answer_has_handed_over_the_one_before(settings, tmp_path):
    written = []

    def web(path):
        if path == "/slow":
            (file,) = Path(settings["DUST_DIR"]).rglob("*.jsonl")
            wait_for(file, 1)
            written.extend(lines(file))
        return page()

    with serving(web) as site:
        crawl([site.url("/page"), site.url("/slow")], settings | {"DUST_LOG_PROCESS": True})
    assert [line["url"] for line in written] == [site.url("/page")]


def test_values_are_hidden_in_what_the_page_says_too(log):
    hider = Hider(["token"], b"k" * 32)
    beside = recorder(log, hider, beside=True)
    beside.add({"url": "http://a.test/p?token=secret"}, BODY)
    beside.close()
    (line,) = lines(log)
    assert line["url"] == line["canonical"] == hider.hide("http://a.test/p?token=secret")
    assert "secret" not in log.read_text()


def test_a_process_that_dies_is_started_again_and_it_is_said(log, beside):
    add(beside, 1)
    wait_for(log, 1)
    beside._process.kill()
    beside._process.wait()
    with pytest.raises(OSError, match="the process that writes it ended"):
        add(beside, 2)
    add(beside, 3)
    beside.close()
    assert [line["url"] for line in lines(log)] == [f"http://a.test/{n}" for n in (1, 2, 3)]


def test_a_process_that_always_dies_is_not_started_for_ever(log, monkeypatch, tmp_path):
    beside = RecorderBeside(log, None, ())
    monkeypatch.setattr(module.sys, "executable", "/bin/true")
    beside._process.kill()
    beside._process.wait()
    tried = 0
    for number in range(20):
        beside._process.wait()
        with pytest.raises(OSError, match=r"ended|ends|Broken pipe"):
            add(beside, number)
        tried = max(tried, beside._deaths)
    assert tried == 5
    beside.close()


def test_a_process_that_hangs_holds_the_crawl_up_for_a_moment_only(log, beside, monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", 0.2)
    add(beside, 1)
    wait_for(log, 1)
    beside._process.send_signal(signal.SIGSTOP)
    some = Body(b"<p>x " * 1000, "text/html", None)
    numbers = iter(range(2, 5000))
    told = []
    while not told:  # until the pipe is full
        try:
            add(beside, number := next(numbers), some)
        except OSError as error:
            told.append(str(error))
    assert "did not read" in told[0]
    add(beside, "next")
    beside.close()
    assert [line["url"] for line in lines(log)][-2:] == [f"http://a.test/{number}", "http://a.test/next"]


def test_an_interruption_of_all_processes_does_not_end_it(log, beside):
    add(beside, 1)
    wait_for(log, 1)
    for interruption in (signal.SIGINT, signal.SIGTERM):
        beside._process.send_signal(interruption)
    add(beside, 2)
    beside.close()
    assert len(lines(log)) == 2


def test_a_full_disk_is_said_once_and_counted(settings, caplog):
    resource = pytest.importorskip("resource", reason="only Unix limits the size of files")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    caplog.set_level(logging.ERROR)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
        with serving(lambda path: page()) as site:
            result = crawl([site.url(f"/{n}") for n in range(8)], settings | {"DUST_LOG_PROCESS": True})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    (file,) = Path(settings["DUST_DIR"]).rglob("*.jsonl")
    whole = file.read_bytes().count(b"\n")
    assert 0 < whole < 8
    assert result.stats["dust/recorded"] == whole
    assert result.stats["dust/record_errors"] == 8 - whole
    assert len(result.got) == 8
    (said,) = [record.getMessage() for record in caplog.records if "crawl log" in record.getMessage()]
    assert "File too large" in said


def test_a_folder_that_cannot_be_written_shows_at_once(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OSError, match="file"):
        RecorderBeside(tmp_path / "file" / "log.jsonl", None, ())


def test_it_does_not_load_scrapy(log, beside):
    add(beside, 1)
    wait_for(log, 1)
    if not sys.platform.startswith("linux"):
        pytest.skip("only Linux tells which libraries a process has loaded")
    loaded = Path(f"/proc/{beside._process.pid}/maps").read_text()
    assert "numpy" in loaded
    assert "lxml" not in loaded


def test_where_no_process_can_be_started_the_crawl_describes_its_pages_itself(log, monkeypatch):
    monkeypatch.setattr(sys, "executable", str(log / "no-python"))
    made = recorder(log, None, beside=True)
    made.add({"url": "http://a.test/1", "status": 200}, BODY)
    made.close()
    assert [line["title"] for line in lines(log)] == ["T"]
