"""Mining on Spark against mining here: ``python -m benchmarks.spark [--urls 1000000] [--sites 10000] [--kill]``.

A cluster of Spark's own is started on loopback, two workers of one core, and `scrapy dustmine --no-validate` is run on
the same log on this machine and there. Printed are the seconds by the clock, how many of Spark's are its start, and
whether the two rule books are the same, byte for byte. *--kill*: one of the workers is killed in the middle.

The log is made up: sites of all sizes, pages with several URLs each, in Parquet as our own logs are.
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
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from hashlib import md5
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory

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


def write_log(folder: Path, urls: int, sites: int) -> None:
    """Several crawls, one file each."""
    folder.mkdir(parents=True)
    made = list(records(urls, sites))
    size = -(-len(made) // _FILES)
    for number in range(_FILES):
        segments.write(made[number * size : (number + 1) * size], folder / f"crawl{number}.parquet")


class Cluster:
    """Spark's master and two workers, each a process on loopback."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        spec = find_spec("pyspark")
        assert spec is not None
        assert spec.origin is not None
        self._home = Path(spec.origin).parent
        self._port, self._web = _free_port(), _free_port()
        self.processes: list[subprocess.Popen[bytes]] = []
        self.environment = os.environ | {
            "SPARK_HOME": str(self._home),
            "SPARK_DAEMON_MEMORY": "512m",
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
                    [*command, *map(str, arguments)], env=self.environment, stdout=log, stderr=log
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
        said = " ".join(f"--conf {name}={value}" for name, value in options.items())
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
def cluster(folder: Path) -> Iterator[Cluster]:
    found = Cluster(folder)
    try:
        found.start()
        yield found
    finally:
        found.stop()


def mine(log: Path, folder: Path, environment: dict[str, str], engine: str) -> subprocess.Popen[str]:
    """`scrapy dustmine` on *log*; its rule book and its state are in *folder*."""
    folder.mkdir(parents=True)
    command = [sys.executable, "-m", "scrapy", "dustmine", "--engine", engine, "--no-validate", "--json"]
    places = ["--rules", str(folder / "rules.json"), "-s", f"DUST_DIR={folder / 'dust'}", str(log)]
    return subprocess.Popen(
        command + places,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finished(process: subprocess.Popen[str], seconds: float = 3600) -> dict[str, object]:
    """What it printed."""
    out, errors = process.communicate(timeout=seconds)
    if process.returncode:
        raise RuntimeError(f"dustmine: {errors or out}")
    found: dict[str, object] = json.loads(out)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.spark", description=__doc__.splitlines()[0])
    parser.add_argument("--urls", type=int, default=1_000_000)
    parser.add_argument("--sites", type=int, default=10_000)
    parser.add_argument("--kill", action="store_true", help="one of two workers, in the middle")
    options = parser.parse_args()
    if (why := missing()) is not None:
        sys.exit(f"{why}. Run `pip install scrapy-dust[spark]`, and install Java 17.")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        write_log(folder / "log", options.urls, options.sites)
        begun, before = time.perf_counter(), _cpu_of_children()
        here = finished(mine(folder / "log", folder / "local", dict(os.environ), "local"))
        local, cpu = time.perf_counter() - begun, _cpu_of_children() - before
        spark = stack.enter_context(cluster(folder))
        begun = time.perf_counter()
        process = mine(folder / "log", folder / "spark", spark.mining(), "spark")
        spark.wait(lambda state: state["activeapps"])
        started = time.perf_counter() - begun
        if options.kill:
            time.sleep(local / 3)
            spark.processes[1].kill()
        there = finished(process)
        seconds = time.perf_counter() - begun
        same = (folder / "local/rules.json").read_bytes() == (folder / "spark/rules.json").read_bytes()
    print(
        f"{here['pages']} URLs of {here['sites']} sites, {here['valid']} rules: {local:.1f} s here on one core "
        f"({cpu / options.urls * 1e6:.0f} µs of CPU time a URL), "
        f"{seconds:.1f} s on two workers of one core{', one of them killed' if options.kill else ''} "
        f"({seconds / local:.2f} times; its application was there after {started:.1f} s). "
        f"Rule books {'are the same' if same else 'DIFFER'}; {there['pages']} URLs."
    )


if __name__ == "__main__":
    main()
