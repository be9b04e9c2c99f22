"""Plain tables that fit the terminal, and are whole where there is none."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Collection, Sequence

from scrapy_dust.commands.output import printable


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> str:
    """*rows* under *heads*, columns in *right* flush right; the widest column gives way to the terminal."""
    rows = [[printable(cell) for cell in row] for row in rows]
    columns = list(zip(heads, *rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    if sys.stdout.isatty():
        room = shutil.get_terminal_size((120, 24)).columns - 2 * (len(widths) - 1)
        widest = max(range(len(widths)), key=lambda i: widths[i])
        widths[widest] = max(len(heads[widest]), 20, min(widths[widest], room - sum(widths) + widths[widest]))
    lines = [
        "  ".join(
            _shortened(cell, width).rjust(width) if i in right else _shortened(cell, width).ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in (heads, ["-" * width for width in widths], *rows)
    ]
    return "\n".join(lines)


def _shortened(cell: str, width: int) -> str:
    if len(cell) <= width:
        return cell
    head = (width - 1) // 2
    return cell[:head] + "…" + cell[len(cell) - (width - 1 - head) :]
