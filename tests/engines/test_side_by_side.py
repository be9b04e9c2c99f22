from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from scrapy_dust.engines import side_by_side
from scrapy_dust.engines.side_by_side import WORTH, Miner, mined_by, processes_for
from scrapy_dust.errors import EngineError
from scrapy_dust.propose.edits.pooling import NOTHING_POOLED
from scrapy_dust.settings import DustSettings
from scrapy_dust.visits.outcomes import Outcome
from scrapy_dust.visits.pages import Visit
from tests.page.sites import HOST, OTHERS, framed, product

SITES = [
    (f"{name}.test", [Visit(f"http://{name}.test/{n}{end}") for n in range(5) for end in ("", "?p=1")], 1.0)
    for name in "abc"
]
MINER = Miner(DustSettings(), redirects_count=False, pool=NOTHING_POOLED)


def test_several_processes_find_what_one_finds_in_the_order_of_the_sites():
    by_one, by_two = (list(mined_by(MINER, SITES, processes)) for processes in (1, 2))
    assert [one.site for one in by_two] == [site for site, _, _ in SITES]
    assert all(one.likely for one in by_two)
    for one, two in zip(by_one, by_two, strict=True):
        assert (one.log, one.likely, one.elimination, one.parameters, one.edits) == (
            two.log,
            two.likely,
            two.elimination,
            two.parameters,
            two.edits,
        )


def test_several_processes_compare_pages_in_units_as_one_does():
    pages = {f"/products/{n}{end}": product(n) for n in range(9) for end in ("", "?p=1")}
    site = ("shop.example", framed([*pages.items(), *OTHERS]), 1.0)
    by_one, by_two = (list(mined_by(MINER, [site, *SITES], processes)) for processes in (1, 2))
    assert [one.log for one in by_one] == [one.log for one in by_two]
    assert [one.edits for one in by_one] == [one.edits for one in by_two]
    urls = f"{HOST}/products/1", f"{HOST}/products/2"
    said = [mined[0].log.comparing.compare(*urls) for mined in (by_one, by_two)]
    assert said[0] == said[1]
    assert said[0][0] is Outcome.DIFFERENT


@pytest.mark.parametrize(("sites", "least"), [(SITES, 31), (SITES[:1], 1), ([], 0)])
def test_what_is_not_worth_a_start_is_mined_by_this_process(sites, least):
    from multiprocessing import active_children  # noqa: PLC0415

    before = active_children()
    for one, (name, _, _) in zip(mined_by(MINER, sites, 2, least), sites, strict=True):
        assert one.site == name
        assert active_children() == before


def test_several_sites_that_are_worth_it_are_mined_by_several():
    from multiprocessing import active_children  # noqa: PLC0415

    before, mining = active_children(), mined_by(MINER, SITES, 2, 30)
    assert next(mining).site == SITES[0][0]
    assert len(active_children()) > len(before)
    assert [one.site for one in mining] == [name for name, _, _ in SITES[1:]]


def test_whoever_asks_for_no_more_leaves_nobody_at_work():
    from multiprocessing import active_children  # noqa: PLC0415

    before = active_children()
    mining = mined_by(MINER, SITES * 20, 2)
    next(mining)
    assert len(active_children()) > len(before)
    mining.close()  # type: ignore[attr-defined]
    assert active_children() == before


def test_no_more_is_handed_out_than_can_be_held_until_it_is_taken(monkeypatch):
    monkeypatch.setattr(side_by_side, "TOGETHER", 1)  # each site is a part
    handed = 0

    def sites():
        nonlocal handed
        for site in SITES * 20:
            handed += 1
            yield site

    for taken, _ in enumerate(mined_by(MINER, sites(), 2)):
        # Of each process so many, and two that are looked at to tell where a part ends.
        assert handed - taken <= 3 * 2 + 2


_MINES_FOR_EVER = """
import time
from scrapy_dust.engines.side_by_side import Miner, mined_by
from tests.engines.test_side_by_side import MINER, SITES

class Slow(Miner):
    def __call__(self, sites):
        print("mining", flush=True)
        time.sleep(3600)

if __name__ == "__main__":
    next(mined_by(Slow(MINER.settings, redirects_count=False, pool=MINER.pool), SITES, 2))
"""


def test_whoever_is_killed_leaves_nobody_at_work(tmp_path):
    script = tmp_path / "mines.py"
    script.write_text(_MINES_FOR_EVER)
    root = str(Path(__file__).parents[2])
    mines = subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": root},
    )
    assert mines.stdout is not None
    assert mines.stdout.readline() == "mining\n"
    mines.kill()
    # The workers have this pipe, too: the end of it comes when the last of them has gone.
    assert mines.communicate(timeout=600)[0] == ""


@pytest.mark.parametrize(("sites", "records"), [(9, WORTH - 1), (1, 10 * WORTH), (0, 0)])
def test_little_work_is_done_by_one(sites, records):
    assert processes_for(sites, records) <= 1


class Killed(Miner):
    """A miner whose process is killed, as one is that takes too much memory."""

    def __call__(self, sites):
        os._exit(9)


def test_a_process_that_is_killed_is_told_in_one_sentence_and_nobody_waits_for_it():
    from multiprocessing import active_children  # noqa: PLC0415

    before = active_children()
    killed = Killed(MINER.settings, redirects_count=False, pool=MINER.pool)
    with pytest.raises(EngineError, match="was killed"):
        list(mined_by(killed, SITES * 20, 2))
    assert active_children() == before
