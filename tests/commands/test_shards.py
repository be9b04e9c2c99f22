"""`scrapy dustmine --shard I/N` and `scrapy dustrules merge`: the rule book of one run over all sites, byte for byte."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from benchmarks import shops
from scrapy_dust.rule_book import RuleBook, Status
from scrapy_dust.rule_book.shards import Shard
from scrapy_dust.rule_book.verdicts import Verdicts
from scrapy_dust.settings import DustSettings
from scrapy_dust.trials.concluding import conclude
from scrapy_dust.trials.learning import decided_from_log, mine
from scrapy_dust.trials.reading import Reporter, Source, read
from tests.waiting import PATIENCE

pytestmark = pytest.mark.once

BOOK = "dust-rules.json"
SITES = [f"s{number}.example" for number in range(9)]
MAIN = 120  #: of the first site, so that it says something of edits to others


def log(first: int = 0) -> Iterator[dict[str, Any]]:
    """Sites of several sizes with session ids, slashes, redirects, sorts that change the page, and failures."""
    for number, site in enumerate(SITES):
        for page in range(first, first + (MAIN if number == 0 else 20 + 7 * number)):
            urls = [
                f"http://{site}/p/{page}",
                f"http://{site}/p/{page}?sid={page * 7 % 13}",
                f"http://{site}/p/{page}/",
            ]
            if number % 3 == 1:
                urls.append(f"http://www.{site}/p/{page}?sid=x{page}")
            for url in urls:
                yield {"url": url, "status": 200, "size": 900, "text_digest": f"{number} {page}"}
            if number % 3 == 2:
                # Right for most pages, and wrong for some.
                other = page if page % 5 else -page - 1
                yield {
                    "url": f"http://{site}/p/{page}?sort=a",
                    "status": 200,
                    "text_digest": f"{number} {other}",
                }
            yield {
                "url": f"http://{site}/old/{page}",
                "status": 301,
                "redirect_to": f"http://{site}/p/{page}",
            }
        yield {"url": f"http://{site}/gone", "status": 404}


def write_log(folder: Path, name: str, lines: Iterator[dict[str, Any]]) -> str:
    path = folder / name
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def begun(command: str, folder: Path, *options: str) -> subprocess.Popen[str]:
    state = ["-s", f"DUST_DIR={folder / 'dust'}"] if "DUST_DIR" not in "".join(options) else []
    return subprocess.Popen(
        [sys.executable, "-m", "scrapy", command, *options, "--json", *state],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def ended(process: subprocess.Popen[str]) -> dict[str, Any]:
    said, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors
    assert "Traceback" not in errors
    found: dict[str, Any] = json.loads(said.splitlines()[-1])
    return found


def mined(folder: Path, path: str, *options: str) -> dict[str, Any]:
    return ended(begun("dustmine", folder, path, "--no-validate", *options))


def mined_in_shards(folder: Path, path: str, count: int, states: Sequence[str] = ()) -> list[dict[str, Any]]:
    """By processes that run at the same time."""
    running = [
        begun(
            *("dustmine", folder, path, "--no-validate", "--shard", f"{number}/{count}"),
            *(["-s", f"DUST_DIR={folder / states[number - 1]}"] if states else []),
        )
        for number in range(1, count + 1)
    ]
    return [ended(process) for process in running]


def merged(folder: Path, count: int, *options: str) -> dict[str, Any]:
    parts = [f"dust-rules.{number}-of-{count}.json" for number in range(1, count + 1)]
    return ended(begun("dustrules", folder, "merge", *parts, *options))


@pytest.fixture
def one(tmp_path: Path) -> Path:
    (tmp_path / "one").mkdir()
    return tmp_path / "one"


@pytest.fixture
def many(tmp_path: Path) -> Path:
    (tmp_path / "many").mkdir()
    return tmp_path / "many"


def state_of(folder: Path) -> dict[str, Any]:
    """What is kept beside the logs for later runs, whatever its order."""
    files = (folder / "dust" / name for name in ("verdicts.json", "priors.json", "profiles.json"))
    return {file.name: json.loads(file.read_bytes()) for file in files}


def test_crawl_after_crawl_shards_that_run_at_once_make_the_same_book(tmp_path: Path, one: Path, many: Path):
    first = write_log(tmp_path, "first.jsonl", log())
    whole = mined(one, first)
    parts = mined_in_shards(many, first, 4)
    assert not (many / BOOK).exists()
    assert merged(many, 4)["missing"] == []
    assert (many / BOOK).read_bytes() == (one / BOOK).read_bytes()
    assert whole["valid"] == sum(part["valid"] for part in parts) > 0
    assert whole["pages"] == sum(part["pages"] for part in parts)
    assert state_of(many) == state_of(one)

    # A person has had a say, and a second crawl has shown more.
    for folder in (one, many):
        book = RuleBook.load([str(folder / BOOK)])
        entry = book.entries(SITES[0])[0]
        book.with_status(SITES[0], entry.rule, Status.DISABLED, "by hand").save(folder / BOOK)
    second = write_log(tmp_path, "second.jsonl", log(first=MAIN // 2))
    mined(one, second)
    mined_in_shards(many, second, 3)
    merged(many, 3)
    assert (many / BOOK).read_bytes() == (one / BOOK).read_bytes()
    assert state_of(many) == state_of(one)
    assert sorted(file.name for file in (many / "dust").iterdir()) == sorted(
        file.name for file in (one / "dust").iterdir()
    )


def mined_here(folder: Path, path: str, shard: Shard | None = None) -> None:
    """What ``dustmine --no-validate`` does, in this process: a start for each of many shards takes longer than its work."""
    settings = DustSettings(rules=(str(folder / BOOK),), dir=str(folder / "dust"))
    state = folder / "dust" / "verdicts.json"
    found = read(Source([path], shard=shard), Reporter())
    mining = mine(found.visits, settings, Reporter(), found.names, state=state.parent, keep=True, shard=shard)
    trials = list(decided_from_log(mining, RuleBook(), Verdicts(), settings))
    conclude(trials, settings, found.logs, state, shard)


def of_shops(count: int) -> Iterator[dict[str, Any]]:
    """Sites whose pages are told in units."""
    for number in range(count):
        for line in shops.clean(60 + number):
            yield {**line, "url": str(line["url"]).replace("shop.test", f"shop{number}.test")}


@pytest.mark.parametrize("count", [1, 4, 16])
def test_a_log_of_many_sites_in_however_many_shards_makes_the_same_book(
    tmp_path: Path, one: Path, many: Path, count: int
):
    path = write_log(tmp_path, "log.jsonl", chain(log(), of_shops(30)))
    mined_here(one, path)
    for number in range(count):
        mined_here(many, path, Shard(number + 1, count))
    assert merged(many, count)["missing"] == []
    assert (many / BOOK).read_bytes() == (one / BOOK).read_bytes()
    sites = RuleBook.load([str(one / BOOK)]).sites
    assert sum(site.startswith("shop") for site in sites) == 30


def test_shards_on_machines_of_their_own_make_the_same_book(tmp_path: Path, one: Path, many: Path):
    path = write_log(tmp_path, "log.jsonl", log())
    mined(one, path)
    mined_in_shards(many, path, 2, states=["a", "b"])
    merged(many, 2)
    assert (many / BOOK).read_bytes() == (one / BOOK).read_bytes()


def test_a_shard_that_is_mined_again_changes_nothing_and_one_that_is_missing_is_said(
    tmp_path: Path, one: Path, many: Path
):
    path = write_log(tmp_path, "log.jsonl", log())
    mined(one, path)
    for shard in ("1/2", "1/2"):
        told = mined(many, path, "--shard", shard)
    assert told["rules"] == "dust-rules.1-of-2.json"
    assert ended(begun("dustrules", many, "merge", "dust-rules.1-of-2.json"))["missing"] == ["2/2"]
    half, whole = (RuleBook.load([str(folder / BOOK)]) for folder in (many, one))
    assert 0 < len(half.sites) < len(whole.sites)
    assert all(half.entries(site) == whole.entries(site) for site in half.sites)
    mined(many, path, "--shard", "2/2")
    merged(many, 2)
    assert (many / BOOK).read_bytes() == (one / BOOK).read_bytes()


def test_a_dry_run_writes_nothing_and_a_shard_may_have_no_site(tmp_path: Path, many: Path):
    path = write_log(tmp_path, "log.jsonl", (line for line in log() if f"//{SITES[0]}/" in line["url"]))
    told = [mined(many, path, "--shard", f"{number}/3") for number in (1, 2, 3)]
    assert sorted(one["sites"] for one in told) == [0, 0, 1]
    assert merged(many, 3, "--dry-run")["rules"] > 0
    assert not (many / BOOK).exists()
    merged(many, 3, "--rules", "named.json")
    assert RuleBook.load([str(many / "named.json")]).sites == (SITES[0],)


@pytest.mark.parametrize("options", [("--shard", "3/2"), ("--shard", "1/2", "--engine", "spark")])
def test_what_cannot_be_meant_is_said(many: Path, options: tuple[str, ...]):
    process = begun("dustmine", many, "log.jsonl", *options)
    _, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, "--shard" in errors, "Traceback" in errors) == (2, True, False)
