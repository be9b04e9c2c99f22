"""Mining on Spark against mining here: ``python -m benchmarks.spark [--urls 1000000] [--sites 10000] [--contents] [--kill]``.

A cluster of Spark's own is started on loopback, two workers of one core, and `scrapy dustmine --no-validate` is run on
the same log on this machine and there. Printed are the seconds by the clock, how many of Spark's are its start, and
whether the two rule books are the same, byte for byte. *--kill*: one of the workers is killed in the middle.

The log is made up: sites of all sizes, pages with several URLs each, in Parquet as our own logs are. *--contents*: the log is of many
shops (`benchmarks.shops`) instead, whose pages are told in units, and *--sites* says nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import md5
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks import shops
from scrapy_dust.crawl_log import segments

_FILES = 8
#: Seconds for anything that a cluster is waited for.
_WAIT = 180


def missing() -> str | None:
    """What a cluster needs that is not here."""
    for package in ("pyspark", "pandas", "pyarrow"):
        if find_spec(package) is None:
            return f"{package} is not installed"
    return None if which("java") or os.environ.get("JAVA_HOME") else "there is no Java"


def records(urls: int, sites: int) -> Iterator[dict[str, object]]:
    """About so many *urls*, in the order of a crawl that has many *sites* open."""
    chance = random.Random(11)
    made = 0
    while made < urls:
        # A few sites are large.
        site = int(sites * chance.random() ** 3)
        page = chance.randrange(40 + 200_000 // (site + 20))
        for url in _aliases(f"http://www.site{site}.test", site, page, chance):
            digest = md5(f"{site} {page}".encode(), usedforsecurity=False).hexdigest()
            sketch = [int(digest[at : at + 8], 16) for at in (0, 8, 16, 24)]
            yield {
                "url": url,
                "status": 200,
                "size": 1000 + page % 977,
                "fetched_at": f"2026-11-0{1 + made % 9}T00:00:00.000Z",
                "sketch": sketch,
                "sketch_version": 1,
                "digest": digest,
                "text_digest": digest,
            }
            made += 1


def _aliases(home: str, site: int, page: int, chance: random.Random) -> Iterator[str]:
    folder = f"{home}/section{page % 7}/{'archive' if site % 2 else 'news'}"
    yield f"{folder}/story-{page}.html"
    if chance.random() < 0.5:
        yield f"{folder}/story-{page}.html?sid={chance.randrange(10**6)}"
    if chance.random() < 0.3:
        yield f"{folder}/print/story-{page}.html"


def write_log(folder: Path, found: Iterable[dict[str, object]]) -> None:
    """Several crawls, one file each."""
    folder.mkdir(parents=True)
    made = list(found)
    size = -(-len(made) // _FILES)
    for number in range(_FILES):
        segments.write(made[number * size : (number + 1) * size], folder / f"crawl{number}.parquet")


#: For Java that lives shortly: most of its time would be spent on making its code fast.
_IN_HASTE = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


class Cluster:
    """Spark's master and two workers, each a process on loopback. *in_haste*: what it is to do takes no minute."""

    def __init__(self, folder: Path, *, in_haste: bool = False) -> None:
        self._folder, self._java = folder, _IN_HASTE if in_haste else ""
        spec = find_spec("pyspark")
        assert spec is not None
        assert spec.origin is not None
        self._home = Path(spec.origin).parent
        self._port, self._web = _free_port(), _free_port()
        self.processes: list[subprocess.Popen[bytes]] = []
        self.environment = os.environ | {
            "SPARK_HOME": str(self._home),
            "SPARK_DAEMON_MEMORY": "512m",
            "SPARK_DAEMON_JAVA_OPTS": self._java,
            # The Java that only says how to start the other one.
            "SPARK_LAUNCHER_OPTS": _IN_HASTE,
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PYSPARK_PYTHON": sys.executable,
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            "OPENBLAS_NUM_THREADS": "1",
        }

    def start(self) -> None:
        self._daemon("master.Master", "--host", "127.0.0.1", "--port", self._port, "--webui-port", self._web)
        for _ in range(2):
            options = ("--host", "127.0.0.1", "--port", _free_port(), "--webui-port", _free_port())
            limits = ("--cores", 1, "--memory", "3g", "--work-dir", self._folder / "work")
            self._daemon("worker.Worker", *options, *limits, f"spark://127.0.0.1:{self._port}")
        self.wait(lambda state: state["aliveworkers"] == 2)

    def _daemon(self, name: str, *arguments: object) -> None:
        command = [str(self._home / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}"]
        with (self._folder / f"{name}{len(self.processes)}.log").open("wb") as log:
            self.processes.append(
                subprocess.Popen(
                    [*command, *map(str, arguments)],
                    env=self.environment,
                    stdout=log,
                    stderr=log,
                    # A worker is killed with what it has started, as a machine fails.
                    start_new_session=True,
                )
            )

    def state(self) -> dict[str, object]:
        """As the master says it."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._web}/json/", timeout=5) as answer:
                found: dict[str, object] = json.load(answer)
                return found
        except OSError:
            return {}

    def wait(self, until: object) -> None:
        assert callable(until)
        end = time.monotonic() + _WAIT
        while not ((state := self.state()) and until(state)):
            if time.monotonic() > end:
                raise TimeoutError(f"the cluster did not get there in {_WAIT} s; {self._folder} has its logs")
            time.sleep(0.2)

    def mining(self) -> dict[str, str]:
        """The environment of a command that is to use it."""
        options = {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.executor.memory": "2g",
            "spark.ui.enabled": "false",
        }
        if self._java:
            options |= dict.fromkeys(
                ("spark.driver.extraJavaOptions", "spark.executor.extraJavaOptions"), self._java
            )
        said = " ".join(f"--conf '{name}={value}'" for name, value in options.items())
        master = f"--master spark://127.0.0.1:{self._port}"
        return self.environment | {"PYSPARK_SUBMIT_ARGS": f"{master} {said} pyspark-shell"}

    def stop(self) -> None:
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


@contextmanager
def cluster(folder: Path, *, in_haste: bool = False) -> Iterator[Cluster]:
    found = Cluster(folder, in_haste=in_haste)
    try:
        found.start()
        yield found
    finally:
        found.stop()


def arguments(log: Path, folder: Path, engine: str) -> list[str]:
    """Of `scrapy`: to mine *log*; the rule book and the state are in *folder*."""
    folder.mkdir(parents=True)
    command = ["dustmine", "--engine", engine, "--no-validate", "--json"]
    return [*command, "--rules", str(folder / "rules.json"), "-s", f"DUST_DIR={folder / 'dust'}", str(log)]


def mine(log: Path, folder: Path, environment: dict[str, str], engine: str) -> subprocess.Popen[str]:
    """`scrapy dustmine`, as a process."""
    return _begun(["scrapy", *arguments(log, folder, engine)], environment)


def mine_several(runs: Sequence[tuple[list[str], int]], environment: dict[str, str]) -> subprocess.Popen[str]:
    """One run after the other in one session of Spark: their arguments, and the process group to kill in the middle."""
    said = [text for of_run, group in runs for text in (json.dumps(of_run), str(group))]
    return _begun(["benchmarks.spark_session", *said], environment)


def _begun(module: list[str], environment: dict[str, str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", *module],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finished(process: subprocess.Popen[str], seconds: float = 3600) -> list[dict[str, Any]]:
    """What it printed, line by line. It is over afterwards, whatever happens."""
    try:
        out, errors = process.communicate(timeout=seconds)
    finally:
        process.kill()
        process.communicate()
    if process.returncode:
        raise RuntimeError(f"{process.args}: {errors or out}")
    return [json.loads(line) for line in out.splitlines()]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.spark", description=__doc__.splitlines()[0])
    parser.add_argument("--urls", type=int, default=1_000_000)
    parser.add_argument("--sites", type=int, default=10_000)
    parser.add_argument("--contents", action="store_true")
    parser.add_argument("--kill", action="store_true", help="one of two workers, in the middle")
    options = parser.parse_args()
    if (why := missing()) is not None:
        sys.exit(f"{why}. Run `pip install scrapy-dust[spark]`, and install Java 17.")
    with TemporaryDirectory() as at:
        compare(Path(at), options)


def compare(folder: Path, options: argparse.Namespace) -> None:
    log = folder / "log"
    write_log(log, shops.many(options.urls) if options.contents else records(options.urls, options.sites))
    begun, before = time.perf_counter(), _cpu_of_children()
    (here,) = finished(mine(log, folder / "local", dict(os.environ), "local"))
    local, cpu = time.perf_counter() - begun, _cpu_of_children() - before
    before = _cpu_of_children()
    with cluster(folder) as spark:
        begun, run = time.perf_counter(), arguments(log, folder / "spark", "spark")
        process = mine_several([(run, spark.processes[1].pid if options.kill else 0)], spark.mining())
        spark.wait(lambda state: state["activeapps"])
        started = time.perf_counter() - begun
        *said, there = finished(process)
        seconds = time.perf_counter() - begun
    cpu_there = _cpu_of_children() - before
    same = (folder / "local/rules.json").read_bytes() == (folder / "spark/rules.json").read_bytes()
    killed = "".join(f", one killed with {one['done']} of {one['parts']} parts done" for one in said[1:])
    print(
        f"{here['pages']} URLs of {here['sites']} sites, {here['valid']} rules: {local:.1f} s here "
        f"({cpu / options.urls * 1e6:.0f} µs of CPU time a URL), "
        f"{seconds:.1f} s on two workers of one core{killed} ({seconds / local:.2f} times; its application was there "
        f"after {started:.1f} s; {cpu_there / options.urls * 1e6:.0f} µs of CPU time a URL, the cluster's start "
        f"included{', without what was killed' * options.kill}). "
        f"Rule books {'are the same' if same else 'DIFFER'}; {there['pages']} URLs."
    )


if __name__ == "__main__":
    main()
