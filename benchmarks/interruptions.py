"""Whether learning ends within two seconds, whenever it is interrupted: ``python -m benchmarks.interruptions [--moments 200]``.

`scrapy dustmine` runs on the log of a messy site that answers slowly, and gets SIGINT or SIGTERM at a random moment, time and
again, each run beside what the ones before have left. Given are the seconds from the signal to the end, and whether the rule
book and what is kept beside the logs can be read.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from benchmarks.messy import HOST, MessySite
from scrapy_dust.page.sketch import describe
from scrapy_dust.rule_book.book import RuleBook
from scrapy_dust.rule_book.verdicts import Verdicts

#: Seconds from a signal to the end of the run.
ALLOWED = 2.0
_MOST = 300.0


@dataclass(frozen=True, slots=True)
class Ended:
    """One run, interrupted."""

    after: float  #: seconds from its begin to the signal
    took: float  #: seconds from the signal to its end; 0: it had ended before
    cpu: float  #: of the processor, in that time: what counts where other work takes turns
    code: int
    said: str


def body_of(content: str | None) -> bytes:
    words = " ".join(f"{content} word{number}" for number in range(30))
    return f"<html><head><title>t</title></head><body><p>{words}</p></body></html>".encode()


@contextmanager
def served(site: MessySite, pause: float) -> Iterator[int]:
    """The port where *site* answers, each time after *pause* seconds."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            time.sleep(pause)
            content = site.content(f"http://{HOST}{self.path}")
            body = body_of(content)
            self.send_response(404 if content is None else 200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Says nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def write_log(site: MessySite, port: int, path: Path) -> None:
    with path.open("w") as file:
        for visit in site.log():
            url = visit.url.replace(HOST, f"127.0.0.1:{port}")
            page = describe(body_of(site.content(visit.url)), "text/html", None, url)
            said = {"url": url, "status": 200, "text_digest": page.text_digest, "title": "t"}
            file.write(json.dumps(said | {"sketch": list(page.sketch)}) + "\n")


def command(folder: Path, log: Path) -> list[str]:
    options = [f"-sDUST_DIR={folder / 'dust'}", f"--rules={folder / 'rules.json'}", "--json"]
    options += ["-sTELNETCONSOLE_ENABLED=False", "-sREMOTE_CONTROL_ENABLED=False"]
    return [sys.executable, "-m", "scrapy", "dustmine", *options, str(log)]


def interrupted(folder: Path, log: Path, after: float, number: signal.Signals) -> Ended:
    """A run that gets signal *number* *after* so many seconds. Raises where what it leaves cannot be read."""
    with subprocess.Popen(
        command(folder, log), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as run:
        try:
            run.wait(after)
            began, before = time.monotonic(), 0.0
        except subprocess.TimeoutExpired:
            began, before = time.monotonic(), _cpu_of(run.pid)
            run.send_signal(number)
        used = _cpu_of_children()
        _, said = run.communicate(timeout=_MOST)
        took = time.monotonic() - began
        cpu = max(0.0, _cpu_of_children() - used - before) if before else 0.0
    RuleBook.load([str(folder / "rules.json")])
    verdicts = Verdicts.load(folder / "dust" / "verdicts.json")
    assert not verdicts.warning, verdicts.warning
    return Ended(after, took, cpu, run.returncode, said)


def _cpu_of(pid: int) -> float:
    """Seconds that a process has used so far; 0 where it has ended, or the system does not say."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _cpu_of_children() -> float:
    """Seconds that all runs have used that are over."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.interruptions", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--moments", type=int, default=200)
    parser.add_argument("--pages", type=int, default=5000)
    parser.add_argument("--pause", type=float, default=0.05, help="seconds that an answer takes")
    parser.add_argument("--seconds", type=float, default=30.0, help="latest moment")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance, site, ends = random.Random(options.seed), MessySite(options.pages), list[Ended]()
    with tempfile.TemporaryDirectory() as name, served(site, options.pause) as port:
        log = Path(name) / "log.jsonl"
        write_log(site, port, log)
        for moment in range(options.moments):
            folder = Path(name) / str(moment // 10)  # ten runs go on where the one before was stopped
            folder.mkdir(exist_ok=True)
            after = chance.uniform(1.0, options.seconds)
            end = interrupted(folder, log, after, chance.choice((signal.SIGINT, signal.SIGTERM)))
            ends.append(end)
            late = "  LATE" if end.took > ALLOWED else ""
            print(
                f"{after:6.1f} s: {end.took:5.2f} s ({end.cpu:.2f} of CPU), status {end.code}{late}",
                flush=True,
            )
            if "Traceback" in end.said or late:
                print(end.said)
    took = sorted(end.took for end in ends)
    most = max(end.cpu for end in ends)
    print(
        f"{len(ends)} moments: {sum(t > ALLOWED for t in took)} late, longest {took[-1]:.2f} s, most CPU {most:.2f} s"
    )


if __name__ == "__main__":
    main()
