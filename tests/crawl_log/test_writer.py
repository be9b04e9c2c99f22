from __future__ import annotations

import json
import signal
import stat
import subprocess
import sys
from contextlib import suppress

import pytest

from scrapy_dust.crawl_log.writer import CrawlLogWriter


def lines(path):
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def test_a_record_is_a_line_and_closing_writes_all(tmp_path):
    path = tmp_path / "new" / "folders" / "log.jsonl"
    writer = CrawlLogWriter(path)
    records = [
        {"url": "http://a.test/ü\ud800\n", "size": 3},
        {"url": "http://a.test/2", "sketch": [2**63 - 1]},
    ]
    for record in records:
        writer.write(record)
    writer.close()
    writer.close()
    assert lines(path) == records
    assert path.read_bytes().isascii()


def test_only_the_owner_may_read_a_log(tmp_path):
    CrawlLogWriter(tmp_path / "log.jsonl").close()
    assert stat.S_IMODE((tmp_path / "log.jsonl").stat().st_mode) == 0o600


def test_each_record_is_in_the_file_at_once(tmp_path):
    path = tmp_path / "log.jsonl"
    writer = CrawlLogWriter(path)
    for number in range(3):
        writer.write({"n": number})
        assert len(lines(path)) == number + 1
    writer.close()


def test_a_killed_crawl_leaves_what_it_recorded(tmp_path):
    path = tmp_path / "log.jsonl"
    program = (
        "import os, signal, sys; from scrapy_dust.crawl_log.writer import CrawlLogWriter\n"
        "writer = CrawlLogWriter(sys.argv[1])\n"
        "writer.write({'url': 'kept'})\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", program, str(path)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert lines(path) == [{"url": "kept"}]


def test_a_line_cut_short_before_does_not_swallow_the_next(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"url": "whole"}\n{"url": "cu')
    writer = CrawlLogWriter(path)
    writer.write({"url": "new"})
    writer.close()
    assert path.read_bytes().splitlines()[1:] == [b'{"url": "cu', b'{"url":"new"}']


@pytest.fixture
def small_disk():
    """Makes files end at 1,000 bytes, as a full disk would; called again, gives room."""
    resource = pytest.importorskip("resource", reason="only Unix limits the size of files")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    def limit(size):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))

    limit(1000)
    yield limit
    limit(before[0])
    signal.signal(signal.SIGXFSZ, handler)


def test_a_full_disk_is_reported_and_writing_goes_on_when_there_is_room(tmp_path, small_disk):
    path = tmp_path / "log.jsonl"
    writer = CrawlLogWriter(path)
    for number in range(30):
        with suppress(OSError):
            writer.write({"url": "x" * 30, "n": number})
        if writer.lost:
            break
    with pytest.raises(OSError, match="too large"):
        writer.write({"url": "no room"})
    small_disk(100_000)
    writer.write({"url": "room"})
    writer.close()
    *before, torn, last = path.read_bytes().splitlines()
    assert [json.loads(line)["n"] for line in before] == list(range(number))
    assert len(torn) < len(before[0])
    assert json.loads(last) == {"url": "room"}
    assert writer.lost == 2


def test_what_json_cannot_say_is_refused_and_leaves_no_trace(tmp_path):
    writer = CrawlLogWriter(tmp_path / "log.jsonl")
    with pytest.raises(TypeError):
        writer.write({"url": b"bytes"})
    with pytest.raises(ValueError, match="JSON"):
        writer.write({"url": "u", "latency": float("nan")})
    writer.write({"url": "u"})
    writer.close()
    assert lines(tmp_path / "log.jsonl") == [{"url": "u"}]


def test_a_closed_log_says_so(tmp_path):
    writer = CrawlLogWriter(tmp_path / "log.jsonl")
    writer.close()
    with pytest.raises(ValueError, match=r"log\.jsonl is closed"):
        writer.write({"url": "u"})


def test_a_folder_that_cannot_be_written_raises_at_once(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OSError, match="file"):
        CrawlLogWriter(tmp_path / "file" / "log.jsonl")


def test_two_writers_on_one_file_do_not_mix_their_lines(tmp_path):
    path = tmp_path / "log.jsonl"
    one, other = CrawlLogWriter(path), CrawlLogWriter(path)
    for number in range(100):
        one.write({"url": f"one {number}"})
        other.write({"url": f"other {number}"})
    one.close()
    other.close()
    assert len(lines(path)) == 200
