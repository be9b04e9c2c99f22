"""Mines sites in several processes of this machine. The results are in the order of the sites, and the same as by one
process.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from itertools import chain
from multiprocessing import connection, get_context, parent_process
from multiprocessing.connection import Connection
from threading import Thread
from typing import TypeVar

from scrapy_dust.engines.laps import Laps
from scrapy_dust.engines.local import NOTHING_KNOWN, Mined, Task, mine_logs
from scrapy_dust.engines.remembering import Remembered
from scrapy_dust.errors import EngineError
from scrapy_dust.page.site_log import site_log
from scrapy_dust.page.volatile import NOTHING_VOLATILE, Volatile
from scrapy_dust.propose.edits.pooling import Pool
from scrapy_dust.settings import DustSettings
from scrapy_dust.visits.pages import Visit

#: Records from which on other processes are worth their start.
WORTH = 50_000
#: Records of small sites that are mined together.
TOGETHER = 4_000

#: Parts that are handed out for each process, and of which what was mined has not been taken.
_AHEAD = 3

#: After so many objects more than went the new ones are looked at, and how seldom older ones are.
_GARBAGE = (200_000, 50, 1000)

Site = tuple[str, Sequence[Visit], float]  #: its visits, and how much of it they are


_Any = TypeVar("_Any")


@dataclass(frozen=True, slots=True)
class Miner:
    """The parameters with which all sites are mined; a function that mines some sites by them."""

    settings: DustSettings
    redirects_count: bool
    pool: Pool
    remembered: Remembered | None = None  #: what earlier runs have found
    #: By site, places that are known to change.
    volatile: Mapping[str, Volatile] = field(default_factory=dict)

    def __call__(self, sites: Sequence[Site]) -> list[Mined]:
        """The results of mining *sites* one after the other."""
        tasks = [self._task(*one) for one in sites]
        return list(mine_logs(tasks, self.settings, redirects_count=self.redirects_count))

    def _task(self, site: str, visits: Sequence[Visit], share: float) -> Task:
        """The site, with the log that its *visits* make and the results of an earlier run, as a task for `mine_logs`."""
        clock = Laps()
        log = site_log(visits, self.volatile.get(site, NOTHING_VOLATILE), self.settings.same)
        clock.lap("contents")
        known, pool = NOTHING_KNOWN, self.pool.without(site)
        if self.remembered is not None:
            known = self.remembered.of(site, log, pool)
            clock.lap("remembered")
        return Task(site, log, pool, share, known, clock.laps)


def mined_by(miner: Miner, sites: Iterable[Site], processes: int, least: int = 0) -> Iterator[Mined]:
    """Mine *sites*, in this process if *processes* is 1, or if the sites cannot be handed to another process.

    *least*: so many records of several sites are worth the start of other processes; with fewer this one mines.
    """
    ahead, sites = _first_sites(sites, least)
    parts = small_sites_together(chain(ahead, sites), lambda one: len(one[1]))
    alone = len(ahead) < 1 + bool(least) or sum(len(one[1]) for one in ahead) < least
    if processes < 2 or alone or not _can_be_handed_over(miner):
        for some in parts:
            yield from miner(some)
        return
    spawn = get_context(
        "spawn"
    )  # not forked: of a process with threads, as Scrapy's and numpy's, a copy may stand still
    is_over, over = spawn.Pipe(duplex=False)
    with is_over, ProcessPoolExecutor(processes, spawn, _prepare_process, (miner, is_over)) as workers:
        waiting = deque[Future[list[Mined]]]()
        try:
            for part in parts:
                if len(waiting) >= _AHEAD * processes:
                    yield from _mined(waiting)
                waiting.append(workers.submit(_mine_with_given_miner, part))
            while waiting:
                yield from _mined(waiting)
        finally:
            # However it ends, nobody goes on: not after Ctrl-C, and not where no more is asked for.
            over.close()
            workers.shutdown(cancel_futures=True)


def _mined(waiting: deque[Future[list[Mined]]]) -> list[Mined]:
    """The results of the first part that is *waiting*. Raises `EngineError` if a process has died over it."""
    try:
        return waiting.popleft().result()
    except BrokenProcessPool:
        raise EngineError(
            "A process that mines was killed, perhaps since memory ran out. Set DUST_MEMORY_LIMIT to less than the machine has "
            "to spare, and run the command again: it goes on from what was found."
        ) from None


def _first_sites(sites: Iterable[Site], least: int) -> tuple[list[Site], Iterator[Site]]:
    """The first of *sites*, until they have *least* records and are several, and the others. If *least* is 0, one site
    is enough.
    """
    ahead, others, records = list[Site](), iter(sites), 0
    for site in others:
        ahead.append(site)
        records += len(site[1])
        if records >= least and len(ahead) > bool(least):
            break
    return ahead, others


def small_sites_together(sites: Iterable[_Any], visits_of: Callable[[_Any], int]) -> Iterator[list[_Any]]:
    """Groups of neighbouring small sites, each to be mined at one go: starting to mine costs more than mining a small
    site.
    """
    some: list[_Any] = []
    taken = 0
    for site in sites:
        visits = visits_of(site)
        if some and taken + visits > TOGETHER:
            yield some
            some, taken = [], 0
        some.append(site)
        taken += visits
    if some:
        yield some


def processes_for(sites: int, records: int) -> int:
    """The number of processes to use for *sites* sites with *records* records."""
    if records < WORTH:
        return 1
    return min(sites, os.process_cpu_count() if hasattr(os, "process_cpu_count") else os.cpu_count() or 1)


def _can_be_handed_over(miner: Miner) -> bool:
    """Whether *miner* can be sent to another process."""
    try:
        pickle.dumps(miner)
    except (pickle.PicklingError, AttributeError, TypeError):
        return False
    return True


_miner: list[Miner] = []


def look_seldom_for_garbage() -> None:
    """Let Python collect garbage rarely, for a process that only mines.

    The objects that mining makes stay, and looking for cycles among them takes an eighth of the time for hardly any.
    """
    gc.set_threshold(*_GARBAGE)


def _prepare_process(miner: Miner, is_over: Connection) -> None:
    """Prepare this process, which another one has started, to mine sites with *miner* until *is_over* has something to read."""
    look_seldom_for_garbage()
    # Ctrl-C reaches all processes of a terminal; the one that was started ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, args=(is_over,), daemon=True).start()
    _miner[:] = [miner]


def _end_with_parent(is_over: Connection) -> None:
    """Have the system end this process when *is_over* has something to read, or when its parent process ends, even if the
    parent is killed.
    """
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel, is_over])
        os._exit(1)


def _mine_with_given_miner(sites: Sequence[Site]) -> list[Mined]:
    """Mine *sites* with the miner that this process was given at its start."""
    return _miner[0](sites)
