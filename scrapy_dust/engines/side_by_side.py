"""Sites mined by several processes of this machine; results in the order of the sites, and the same as by one."""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing import get_context

from scrapy_dust.dust.edits.pooling import Pool
from scrapy_dust.dust.pages import Visit, merge_visits
from scrapy_dust.engines.local import NOTHING_KNOWN, Mined, mine_log
from scrapy_dust.engines.remembering import Remembered
from scrapy_dust.settings import DustSettings

#: Records from which on other processes are worth their start.
WORTH = 50_000

Site = tuple[str, Sequence[Visit], float]  #: its visits, and how much of it they are


@dataclass(frozen=True, slots=True)
class Miner:
    """What all sites are mined with."""

    settings: DustSettings
    redirects_count: bool
    pool: Pool
    remembered: Remembered | None = None  #: what earlier runs have found

    def __call__(self, some: Site) -> Mined:
        site, visits, share = some
        log = merge_visits(visits)
        return mine_log(
            site,
            log,
            self.settings,
            redirects_count=self.redirects_count,
            pool=self.pool.without(site),
            share=share,
            known=self.remembered.of(site, log) if self.remembered else NOTHING_KNOWN,
        )


def mined_by(miner: Miner, sites: Iterable[Site], processes: int) -> Iterator[Mined]:
    """One by one where *processes* is 1, or what they are to be given cannot be handed over."""
    if processes < 2 or not _can_be_handed_over(miner):
        yield from map(miner, sites)
        return
    with ExitStack() as stack:
        # Not forked: of a process with threads, as Scrapy's and numpy's, a copy may stand still.
        workers = get_context("spawn").Pool(processes, _begin, (miner,))
        stack.callback(workers.join)
        # However it ends, nobody goes on: not after Ctrl-C, and not where no more is asked for.
        stack.callback(workers.terminate)
        yield from workers.imap(_mined, sites)


def processes_for(sites: int, records: int) -> int:
    if records < WORTH:
        return 1
    return min(sites, os.process_cpu_count() if hasattr(os, "process_cpu_count") else os.cpu_count() or 1)


def _can_be_handed_over(miner: Miner) -> bool:
    try:
        pickle.dumps(miner)
    except (pickle.PicklingError, AttributeError, TypeError):
        return False
    return True


_miner: list[Miner] = []


def _begin(miner: Miner) -> None:
    # Ctrl-C reaches all processes of a terminal; the one that was started ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _miner[:] = [miner]


def _mined(some: Site) -> Mined:
    return _miner[0](some)
