"""Signatures and where they are kept: ``python -m benchmarks.signatures [hashes|responses|stores|kills]``.

``hashes``: bytes hashed a second, by xxHash, MD5 and SHA-1, turn and turn about, in pages of several sizes.
``responses``: what the middleware costs for one response: a page that is new, the same bytes, the same text.
``stores [--count 10000000]``: a store filled with so many signatures, two a page: inserts and look-ups a second of CPU time (Redis:
of the clock), bytes on disk and of memory; beside it what else could hold them, as far as it is installed (lmdb, redis).
``kills [--kills 50]``: a process that fills a store is killed with SIGKILL; what it had committed must be there.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import median

from xxhash import xxh3_128_digest, xxh64_digest

from benchmarks.comparisons import best
from benchmarks.recorder import page
from scrapy_dust.crawl.seen_contents import Contents
from scrapy_dust.crawl_log.recording import Body
from scrapy_dust.settings import DustSettings
from scrapy_dust.signatures.copies import Kind
from scrapy_dust.signatures.sqlite_store import SqliteStore

HASHES: dict[str, Callable[[bytes], bytes]] = {
    "xxh3_128": xxh3_128_digest,
    "xxh64": xxh64_digest,
    "md5": lambda said: hashlib.md5(said).digest(),
    "sha1": lambda said: hashlib.sha1(said).digest(),
    "sha256": lambda said: hashlib.sha256(said).digest(),
}
ASKED = 200_000


def hashes(options: argparse.Namespace) -> dict[str, object]:
    """Megabytes a second, best of several rounds in CPU time."""
    found: dict[str, object] = {}
    for size in (1_000, 10_000, 100_000, 1_000_000):
        pages = [random.Random(n).randbytes(size) for n in range(max(1, 4_000_000 // size))]
        seconds: dict[str, float] = {}
        for name, of in HASHES.items():
            ours, seconds[name] = best(_hashing(HASHES["xxh3_128"], pages), _hashing(of, pages), 7)
            seconds["xxh3_128"] = min(ours, seconds["xxh3_128"])
        total = size * len(pages) / 1e6
        found[f"pages of {size} bytes, MB/s"] = {name: round(total / took) for name, took in seconds.items()}
    return found


def _hashing(of: Callable[[bytes], bytes], pages: list[bytes]) -> Callable[[], object]:
    return lambda: [of(one) for one in pages]


def responses(options: argparse.Namespace) -> dict[str, object]:
    """Microseconds of CPU time for one page, medians."""
    found: dict[str, object] = {}
    for words in (600, 3000):
        for near in (None, True):
            settings = DustSettings.parse(
                {"DUST_CONTENT_DEDUP": "drop"} | ({"DUST_CONTENT_NEAR": near} if near else {})
            )
            contents = Contents(settings, SqliteStore(None), str)
            new = [page(number, words) for number in range(600)]
            took = {
                "new": _looked(contents, new, "new"),
                "same bytes": _looked(contents, new, "again"),
                "same text": _looked(contents, [one + b"<!-- -->" for one in new], "text"),
            }
            size = f"{len(new[1]) / 1000:.1f} kB"
            found[f"{size}{', near' if near else ''}"] = {
                what: round(1e6 * each) for what, each in took.items()
            }
    return found


def _looked(contents: Contents, bodies: list[bytes], name: str) -> float:
    took = []
    for number, body in enumerate(bodies):
        began = time.process_time()
        contents.examine(f"http://a.test/{name}/{number}", Body(body, "text/html; charset=utf-8", None))
        took.append(time.process_time() - began)
    return median(took[100:])


def stores(options: argparse.Namespace) -> dict[str, object]:
    """Each in a process of its own, so that its memory is its own."""
    found: dict[str, object] = {}
    for name in options.only or STORES:
        command = [
            sys.executable,
            "-m",
            "benchmarks.signatures",
            "fill",
            "--only",
            name,
            "--count",
            str(options.count),
        ]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        found[name] = json.loads(done.stdout) if done.returncode == 0 else "not there"
        print(name, found[name], file=sys.stderr, flush=True)
    return found


def fill(options: argparse.Namespace) -> dict[str, object]:
    with tempfile.TemporaryDirectory(dir=options.dir) as folder:
        return STORES[options.only[0]](Path(folder), options.count)


def _signature(number: int) -> bytes:
    return xxh3_128_digest(number.to_bytes(8))


def _url(number: int) -> str:
    return f"http://www.site{number % 977}.example/section/{number % 31}/page-{number}.html"


def _asked(count: int) -> Iterator[bytes]:
    """Half of them are there."""
    chance = random.Random(3)
    return (_signature(chance.randrange(2 * count)) for _ in range(ASKED))


def _measured(
    count: int, began: float, filled: float, found: int, took: float, size: int
) -> dict[str, object]:
    return {
        "inserts_per_second": round(count / (filled - began)),
        "lookups_per_second": round(ASKED / took),
        "found": found,
        "megabytes": round(size / 1e6),
        "memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


def _ours(folder: Path, count: int) -> dict[str, object]:
    """A page has two signatures and a URL, which the others do not keep."""
    store, began = SqliteStore(folder / "pages.sqlite"), time.process_time()
    for number in range(0, count, 2):
        store.keep(_url(number), (_signature(number), _signature(number + 1)), Kind.CONTENT)
    store.flush()
    filled, asked = time.process_time(), list(_asked(count))
    asking = time.process_time()
    found = sum(store.find(one) is not None for one in asked)
    took = time.process_time() - asking
    store.close()
    size = sum(file.stat().st_size for file in folder.iterdir())
    return _measured(count, began, filled, found, took, size)


def _bare(folder: Path, count: int) -> dict[str, object]:
    """SQLite with nothing but signatures, as many a transaction as ours."""
    base, began = sqlite3.connect(folder / "bare.sqlite", isolation_level=None), time.process_time()
    base.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-65536")
    base.execute("CREATE TABLE signature (digest BLOB PRIMARY KEY) WITHOUT ROWID")
    for start in range(0, count, 1000):
        base.execute("BEGIN")
        rows = sorted((_signature(number),) for number in range(start, start + 1000))
        base.executemany("INSERT OR IGNORE INTO signature VALUES (?)", rows)
        base.execute("COMMIT")
    filled, asked = time.process_time(), list(_asked(count))
    asking = time.process_time()
    query = "SELECT 1 FROM signature WHERE digest = ?"
    found = sum(base.execute(query, (one,)).fetchone() is not None for one in asked)
    took = time.process_time() - asking
    base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return _measured(count, began, filled, found, took, (folder / "bare.sqlite").stat().st_size)


def _set(folder: Path, count: int) -> dict[str, object]:
    """Python's, which is gone with the process."""
    began, held = time.process_time(), set()
    for number in range(count):
        held.add(_signature(number))
    filled, asked = time.process_time(), list(_asked(count))
    asking = time.process_time()
    found = sum(one in held for one in asked)
    return _measured(count, began, filled, found, time.process_time() - asking, 0)


def _lmdb(folder: Path, count: int) -> dict[str, object]:
    import lmdb  # noqa: PLC0415

    base, began = lmdb.open(str(folder), map_size=1 << 34, sync=False), time.process_time()
    for start in range(0, count, 1000):
        with base.begin(write=True) as writing:
            for number in range(start, start + 1000):
                writing.put(_signature(number), b"")
    filled, asked = time.process_time(), list(_asked(count))
    asking = time.process_time()
    with base.begin() as reading:
        found = sum(reading.get(one) is not None for one in asked)
    took = time.process_time() - asking
    base.sync(True)
    size = sum(file.stat().st_blocks * 512 for file in folder.iterdir())
    return _measured(count, began, filled, found, took, size)


def _redis(folder: Path, count: int) -> dict[str, object]:
    """Our own store in it, a round trip a page; a tenth of the pages, since its memory grows evenly."""
    from scrapy_dust.signatures.redis_store import RedisStore  # noqa: PLC0415

    with _redis_server(folder) as port:
        store, began = RedisStore(f"redis://127.0.0.1:{port}"), time.perf_counter()
        count //= 10
        for number in range(0, count, 2):
            store.keep(_url(number), (_signature(number), _signature(number + 1)), Kind.CONTENT)
        filled, asked = time.perf_counter(), list(_asked(count))[: ASKED // 10]
        asking = time.perf_counter()
        found = sum(store.find(one) is not None for one in asked)
        took = 10 * (time.perf_counter() - asking)
        used = store._server.info("memory")["used_memory"]
        store.close()
    return _measured(count, began, filled, found, took, 0) | {
        "server_mb": round(used / 1e6),
        "signatures": count,
    }


@contextmanager
def _redis_server(folder: Path, port: int = 16_542) -> Iterator[int]:
    command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as server:
        time.sleep(1)
        try:
            yield port
        finally:
            server.terminate()


STORES: dict[str, Callable[[Path, int], dict[str, object]]] = {
    "ours": _ours,
    "bare SQLite": _bare,
    "LMDB": _lmdb,
    "set": _set,
    "Redis (ours)": _redis,
}


def kills(options: argparse.Namespace) -> dict[str, object]:
    """What was said to be committed is looked up after each kill, in a store that must open."""
    chance, folder = random.Random(options.seed), tempfile.mkdtemp(dir=options.dir)
    path, lost, committed, opened = Path(folder, "pages.sqlite"), 0, 0, 0
    for number in range(options.kills):
        told = _killed(path, number, chance.uniform(0.2, 1.5))
        committed += told
        with opened_store(path) as store:
            opened += 1
            lost += sum(store.find(_signature(number * 10**7 + one)) is None for one in range(told))
            (whole,) = store._base.execute("PRAGMA quick_check").fetchone()
            assert whole == "ok", whole
    shutil.rmtree(folder)
    return {"kills": options.kills, "opened": opened, "committed": committed, "lost": lost}


@contextmanager
def opened_store(path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(path)
    yield store
    store.close()


def _killed(path: Path, number: int, seconds: float) -> int:
    """How many signatures the process had told to be committed when it was killed."""
    command = [
        sys.executable,
        "-m",
        "benchmarks.signatures",
        "write",
        "--dir",
        str(path),
        "--seed",
        str(number),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        told = process.stdout.readline()
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        for line in process.stdout:
            told = line if line.endswith("\n") else told
    return int(told or 0)


def write(options: argparse.Namespace) -> None:
    """Until it is killed: signatures, and how many of them are committed."""
    store, chance = SqliteStore(Path(options.dir)), random.Random(options.seed)
    done = 0
    with suppress(KeyboardInterrupt):
        while True:
            for _ in range(chance.randrange(1, 400)):
                number = options.seed * 10**7 + done
                store.keep(_url(number), (_signature(number),), Kind.CONTENT)
                done += 1
            store.flush()
            print(done, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.signatures", description=__doc__.splitlines()[0]
    )
    parser.add_argument("what", choices=("hashes", "responses", "stores", "kills", "fill", "write"))
    parser.add_argument("--count", type=int, default=10_000_000)
    parser.add_argument("--only", nargs="+", help=f"of the stores: {', '.join(STORES)}")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dir", help="for what is written")
    options = parser.parse_args()
    found = globals()[options.what](options)
    if found is not None:
        print(json.dumps(found) if options.what == "fill" else json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
