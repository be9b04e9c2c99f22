"""The progress of a command on stderr: one line that moves on a terminal, a line for each phase elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from shutil import get_terminal_size
from typing import TextIO, TypeVar

from scrapy_dust.commands.output import printable
from scrapy_dust.engines.figures import Figures
from scrapy_dust.engines.local import MOST_TOKENS
from scrapy_dust.engines.sampling import instances_needed
from scrapy_dust.neural.training_state import Epoch
from scrapy_dust.trials.reading import Reporter

Thing = TypeVar("Thing")

_EVERY = 0.2  # seconds between two lines on a terminal
_EVERY_PIPED = 10.0  # and where the output is kept


class Counting:
    """A counter of things that are read, shown on a terminal after the first second."""

    def __init__(self, stream: TextIO, what: str) -> None:
        self._line = Line(stream, piped=False)
        self._moves = stream.isatty()
        self._what = what

    def of(self, things: Iterable[Thing]) -> Iterator[Thing]:
        """Yield *things*, and count them."""
        if not self._moves:
            yield from things
            return
        begun = time.monotonic()
        for count, thing in enumerate(things, start=1):
            yield thing
            if count % 1000 == 0 and (seconds := time.monotonic() - begun) > 1:
                self._line.show(f"{self._what}: {count}, {count / seconds:,.0f} a second")
        self._line.clear()


class Line:
    """A line that moves on a terminal. Through a pipe it is a line now and then, or none."""

    def __init__(self, stream: TextIO, *, piped: bool = True) -> None:
        self._stream, self._piped = stream, piped
        self._moves = stream.isatty()
        self._last = 0.0
        self._shown = ""

    def show(self, text: str) -> None:
        """Show *text* in the place of the last one, at most a few times a second."""
        now = time.monotonic()
        if not (self._moves or self._piped) or now - self._last < (_EVERY if self._moves else _EVERY_PIPED):
            return
        self._last = now
        if self._moves:
            self.clear()
            # A line that is broken is not cleared.
            self._shown = text[: max(10, get_terminal_size((80, 24)).columns - 1)]
            self._stream.write(self._shown)
            self._stream.flush()
        else:
            print(text, file=self._stream, flush=True)

    def clear(self) -> None:
        """Remove the line from the terminal."""
        if self._shown:
            self._stream.write("\r" + " " * len(self._shown) + "\r")
            self._shown = ""


class Progress(Reporter):
    """Shows the progress of ``dustmine`` on stderr."""

    def __init__(self, stream: TextIO, least: int = 3) -> None:
        """Show progress on *stream*. *least*: the support that a rule needs."""
        self._stream, self._least = stream, least
        self._line = Line(stream)
        self._reading: float | None = None  # since when
        self._mining, self._mined, self._mining_began = (0, 0), (0, 0), 0.0  # sites and their pages
        self._began: tuple[float, int, int] | None = None  # when, and with what already spent and decided
        self.kept = ""  #: what an interruption does not cost, as a sentence

    def say(self, text: str) -> None:
        """Print *text* as a line that stays, above the moving line."""
        self._line.clear()
        print(printable(text), file=self._stream, flush=True)

    def confirms(self, fact: str, question: str) -> bool:
        """Print *fact*, and on a terminal ask *question*. True unless a person answers no."""
        self.say(fact)
        if not may_ask(self._stream):
            return True
        self._stream.write(f"{question} [Y/n] ")
        self._stream.flush()
        return not sys.stdin.readline().strip().lower().startswith("n")

    def reading(self, visits: int) -> None:
        """Show that *visits* records have been read."""
        now = time.monotonic()
        self._reading = self._reading or now
        seconds = now - self._reading
        self._line.show(
            f"Reading: {visits} records" + (f", {visits / seconds:,.0f} a second" if seconds > 1 else "")
        )

    def begin_mining(self, sites: int, records: int) -> None:
        """Note that *sites* sites, with *records* records in all, are going to be mined."""
        self._mining, self._mined, self._mining_began = (sites, records), (0, 0), time.monotonic()

    def mined(self, mined: Figures) -> None:
        """Print the numbers of rules that were found on the site of *mined*, and show how many sites are left."""
        self._say_what_was_found(mined)
        (sites, records), (done, pages) = self._mining, self._mined
        self._mined = done, pages = done + 1, pages + mined.pages
        seconds = time.monotonic() - self._mining_began
        if done < sites and seconds > 1 and pages:
            left = _duration_in_words(seconds * max(0, records - pages) / pages)
            rate = f"{pages / seconds:,.0f} pages a second"
            self._line.show(f"Mining: {done} of {sites} sites, {rate}, about {left} left")

    def _say_what_was_found(self, mined: Figures) -> None:
        """Print how many rules mining proposes for a site, and which of its URLs were not mined."""
        seconds = sum(lap.seconds for lap in mined.laps.values())
        self.say(
            f"{mined.site}: {mined.pages} pages; rules proposed: {mined.likely} by the URLs "
            f"({mined.kept} without redundant ones), {mined.parameters} by parameters, "
            f"{mined.edits} by equal pages ({seconds:.1f} s)"
        )
        if mined.share < 1:
            self.say(
                f"{mined.site}: only {mined.share:.1%} of its URLs were mined, since all of them take more than DUST_MEMORY_LIMIT. "
                f"A rule that {instances_needed(mined.share, self._least)} different pages confirm is found with a probability of 95 %."
            )
        if mined.too_long:
            self.say(
                f"{mined.site}: {mined.too_long} URLs have more than {MOST_TOKENS} words and signs; not mined."
            )

    def training(self, site: str, epoch: Epoch, most: int) -> None:
        """Show the *epoch* that a network has finished for *site*, of at most *most*."""
        if epoch.number > 1:
            self.kept = (
                f"What the network has learned of {site} is kept: the same command goes on from there."
            )
        judged = "" if epoch.held_out is None else f", held out {epoch.held_out:.4f}"
        left = _duration_in_words(epoch.seconds / epoch.number * (most - epoch.number))
        said = f"{site}: epoch {epoch.number} of at most {most}, loss {epoch.loss:.4f}{judged}"
        self._line.show(f"{said}, at most {left} left")

    def probing(self, fetches: int, budget: int, decided: int, remaining: int) -> None:
        """Show how many rules are *decided* and *remaining*, and how many *fetches* of the *budget* are spent."""
        now = time.monotonic()
        if self._began is None:
            self._began = now, fetches, decided
        began, spent, known = self._began
        left = seconds_left(now - began, fetches - spent, budget - fetches, decided - known, remaining)
        said = f", about {_duration_in_words(left)} left" if left is not None else ""
        # Once each rule has been tried, pairs are fetched for those that together might lose too much.
        state = (
            f"{decided} of {decided + remaining} rules decided"
            if remaining
            else "more evidence for decided rules"
        )
        self._line.show(f"Validating: {state}, {fetches} of {budget} fetches{said}")


def may_ask(stream: TextIO | None = None) -> bool:
    """Whether a person is there to answer what is asked on *stream*, or else on stderr."""
    return (stream or sys.stderr).isatty() and sys.stdin.isatty()


def seconds_left(
    seconds: float, fetches: int, fetches_left: int, decided: int, remaining: int
) -> float | None:
    """The seconds until the budget is spent or all rules are decided, estimated after *seconds* of work.

    None where too little has happened yet to tell, or no rule is undecided.
    """
    if not fetches or seconds <= 0 or not remaining:
        return None
    until_spent = fetches_left * seconds / fetches
    return min(until_spent, remaining * seconds / decided) if decided else until_spent


def _duration_in_words(seconds: float) -> str:
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 90 else f"{minutes / 60:.1f} h"
