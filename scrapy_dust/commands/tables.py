"""Lays out tables as text, which fit the terminal, and are complete in a file or a pipe."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Collection, Mapping, Sequence

from scrapy_dust.commands.output import may_colour, printable

#: ANSI colours of what a cell says.
STATUS_COLOURS = {
    "valid": 32,
    "probation": 33,
    "undecided": 33,
    "suspended": 31,
    "refuted": 31,
    "disabled": 31,
}

#: A column that gives way is no narrower than this, or its head.
_NARROWEST = 16


def table(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    right: Collection[int] = (),
    *,
    spare: Sequence[int] = (),
    colours: Mapping[str, int] | None = None,
) -> str:
    """*rows* under *heads*, columns in *right* flush right.

    On a terminal the widest columns give way, as far as they can; then those in *spare* go, the first one first.
    """
    cells = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
    shown = list(range(len(heads)))
    if sys.stdout.isatty():
        room = shutil.get_terminal_size((120, 24)).columns
        shown = _columns_that_fit(heads, widths, spare, room)
        _narrow(heads, widths, shown, room)
    painted = colours if colours and may_colour() else {}
    lines = (
        "  ".join(_cell(row[i], widths[i], flush=i in right, colours=painted) for i in shown).rstrip()
        for row in (heads, ["-" * width for width in widths], *cells)
    )
    return "\n".join(lines)


def _columns_that_fit(
    heads: Sequence[str], widths: Sequence[int], spare: Sequence[int], room: int
) -> list[int]:
    """The columns to show, by their numbers: without as many of *spare* as must go for the others to fit into *room*."""
    shown = list(range(len(heads)))
    for column in spare:
        if sum(min(widths[i], _least_width(heads, i)) for i in shown) + 2 * (len(shown) - 1) <= room:
            break
        shown.remove(column)
    return shown


def _narrow(heads: Sequence[str], widths: list[int], shown: Sequence[int], room: int) -> None:
    """Narrow the widest columns, one character at a time, until all columns fit or none can be narrowed."""
    over = sum(widths[i] for i in shown) + 2 * (len(shown) - 1) - room
    while over > 0:
        able = [i for i in shown if widths[i] > _least_width(heads, i)]
        if not able:
            return
        widest = max(able, key=lambda i: widths[i])
        widths[widest] -= 1
        over -= 1


def _least_width(heads: Sequence[str], column: int) -> int:
    return max(_NARROWEST, len(heads[column]))


def _cell(text: str, width: int, *, flush: bool, colours: Mapping[str, int]) -> str:
    """*text* in a cell of this *width*, cut or padded; in the colour that *colours* has for it."""
    cell = _shortened(text, width)
    padded = cell.rjust(width) if flush else cell.ljust(width)
    colour = colours.get(text)
    return padded if colour is None else padded.replace(cell, f"\x1b[{colour}m{cell}\x1b[0m", 1)


def _shortened(cell: str, width: int) -> str:
    """*cell* of at most *width* characters; of a longer one the middle is left out."""
    if len(cell) <= width:
        return cell
    head = (width - 1) // 2
    return cell[:head] + "…" + cell[len(cell) - (width - 1 - head) :]
