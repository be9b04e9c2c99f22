"""Processes that record and are killed: every log opens, nothing that is a second old is missing, others go on."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from scrapy_dust.crawl_log import read_visits
from scrapy_dust.crawl_log.locks import lock_of_log
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(sys.platform == "win32", reason="Windows has neither fork nor SIGKILL"),
]

#: Forks children that record as fast as they can and tell the number of each record; kills each at a random moment.
KILLER = """
import json, os, random, signal, sys, time
from pathlib import Path
from scrapy_dust.crawl.recorder import FLUSH_SECONDS, recorder
from scrapy_dust.crawl_log import new_log_path
from scrapy_dust.crawl_log.recording import Body
import scrapy_dust.page.sketch

folder, beside, kills, seed = Path(sys.argv[1]), sys.argv[2] == "beside", int(sys.argv[3]), sys.argv[4]
chance = random.Random(seed)
body = Body(b"<p>" + b"some words of a page " * 20, "text/html", None)

def record(path, told):
    writer, flushed, handed_over = recorder(path, None, beside=beside), time.monotonic(), 0
    for number in range(1_000_000):
        # As the middleware does; and so that the pipe has room for all while the other process starts.
        if beside:
            time.sleep(0.002)
        if time.monotonic() - flushed >= FLUSH_SECONDS:
            flushed, handed_over = time.monotonic(), number
            writer.flush()
        writer.add({"url": f"http://a.test/{number}", "status": 200, "fetched_at": ""}, body)
        os.write(told, b"%d\\n" % handed_over)

for _ in range(kills):
    path = new_log_path(folder, "s")
    hear, told = os.pipe()
    child = os.fork()
    if not child:
        os.close(hear)
        record(path, told)
    os.close(told)
    with os.fdopen(hear, "rb") as lines:
        seen = [lines.readline()]
        time.sleep(chance.uniform(0.6, 1.6) if beside else chance.uniform(0, 0.15))
        os.kill(child, signal.SIGKILL)
        seen += lines.readlines()
    os.waitpid(child, 0)
    whole = [int(line) for line in seen if line.endswith(b"\\n")]
    print(json.dumps([str(path), len(whole), max(whole)]), flush=True)
"""


def kill(folder, how, kills, seed):
    done = subprocess.run(
        [sys.executable, "-c", KILLER, str(folder), how, str(kills), str(seed)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def wait_until_ended(path):
    def has_ended():
        with lock_of_log(path) as ours:
            return ours

    wait_until(has_ended)


@pytest.mark.parametrize(("how", "kills"), [("here", 30), ("beside", 4)])
def test_killed_at_random_moments_every_log_opens_and_has_all_that_was_recorded(tmp_path, how, kills):
    told = kill(tmp_path, how, kills, seed=1)
    assert len(told) == kills
    records = 0
    for name, recorded, handed_over in told:
        path = Path(name)
        wait_until_ended(path)
        reading = read_visits(path)
        numbers = [int(visit.url.rpartition("/")[2]) for visit in reading]
        # Without a gap and, here, with all that the killed process says it had recorded; what is described beside
        # it may lack what was not handed over.
        assert numbers == list(range(len(numbers)))
        assert (handed_over <= len(numbers)) if how == "beside" else (recorded <= len(numbers))
        assert len(numbers) <= recorded + 1
        assert reading.unreadable_count == 0
        records += len(numbers)
    assert sum(1 for _ in read_visits(tmp_path)) == records


def test_processes_write_beside_each_other(tmp_path):
    program = (
        "import sys; from pathlib import Path\n"
        "from scrapy_dust.crawl_log import CrawlLogWriter, new_log_path\n"
        "writer = CrawlLogWriter(new_log_path(Path(sys.argv[1]), 's'))\n"
        "print(flush=True); sys.stdin.readline()\n"
        "for number in range(500): writer.write({'url': f'http://a.test/{sys.argv[2]}/{number}'})\n"
        "writer.close()"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path), str(n)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for n in range(4)
    ]
    for process in processes:
        process.stdout.readline()
    for process in processes:
        process.communicate("go\n")
        assert process.returncode == 0
    reading = read_visits(tmp_path)
    urls = [visit.url for visit in reading]
    assert len(reading.files) == 4
    assert sorted(urls) == sorted(f"http://a.test/{n}/{number}" for n in range(4) for number in range(500))
