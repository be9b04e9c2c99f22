"""Measures what each phase of a run takes: seconds and peak memory."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Lap:
    """The seconds and the peak memory of one phase."""

    seconds: float = 0.0
    cpu: float = 0.0  #: seconds of processors
    #: Megabytes that the process has had at most until its end; None where the system does not say.
    peak: int | None = None

    def __add__(self, other: Lap) -> Lap:
        """The time of both, and the higher peak of memory."""
        peaks = [peak for peak in (self.peak, other.peak) if peak is not None]
        return Lap(self.seconds + other.seconds, self.cpu + other.cpu, max(peaks, default=None))

    def __sub__(self, other: Lap) -> Lap:
        """The time left without that of *other*, at least none: processes side by side may take more than has passed."""
        return Lap(max(0.0, self.seconds - other.seconds), max(0.0, self.cpu - other.cpu), self.peak)

    def __mul__(self, share: float) -> Lap:
        """The time and memory of a *share* of the measured work."""
        return Lap(self.seconds * share, self.cpu * share, self.peak)


class Laps:
    """Measures the phases of this process, and of processes that it started and that have ended."""

    def __init__(self, *, since_start: bool = False) -> None:
        """A watch for phases. *since_start*: the CPU time since the process began is a phase too, ``start``."""
        self.laps: dict[str, Lap] = {}
        self._last, self._last_cpu = time.perf_counter(), _cpu_seconds()
        if since_start:
            self.laps["start"] = Lap(self._last_cpu, self._last_cpu, peak_memory())

    def lap(self, phase: str) -> None:
        """Count the time since the last call for *phase*."""
        now, cpu = time.perf_counter(), _cpu_seconds()
        taken = Lap(now - self._last, cpu - self._last_cpu, peak_memory())
        self.laps[phase] = self.laps.get(phase, Lap()) + taken
        self._last, self._last_cpu = now, cpu


def _cpu_seconds() -> float:
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def in_all(laps: Mapping[str, Lap], more: Mapping[str, Lap]) -> dict[str, Lap]:
    """The sums of two measurements of phases, phase by phase."""
    return {phase: laps.get(phase, Lap()) + more.get(phase, Lap()) for phase in {**laps, **more}}


def peak_memory() -> int | None:
    """The peak memory of this process in megabytes; None if the system does not say."""
    try:
        from resource import RUSAGE_SELF, getrusage  # noqa: PLC0415  Not on Windows.
    except ImportError:
        return None
    most = getrusage(RUSAGE_SELF).ru_maxrss
    return most >> 20 if sys.platform == "darwin" else most >> 10
