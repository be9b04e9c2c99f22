"""Stdout of a command, which may be closed, full, or know no Unicode."""

from __future__ import annotations

import io
import os
import sys


def accept_any_text() -> None:
    """What a site wrote into a URL must not be too much for a terminal that knows no Unicode."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def give_up(command: str, error: OSError) -> None:
    """Files are read and written with errors of their own: this one is stdout's.

    Who closed it has seen enough. Python must not try to write the rest when it exits.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if not isinstance(error, BrokenPipeError):
        print(f"scrapy {command}: the output cannot be written ({error.strerror}).", file=sys.stderr)
