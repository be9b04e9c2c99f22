"""A server of one's own, in a process of its own, for as long as a ``with`` block lasts."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from dusty_web import SEED

#: The Scrapy project, and where ``python -m dusty_web`` works.
PROJECT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class RunningWeb:
    port: int

    @property
    def proxy(self) -> str:
        """What the project's settings expect in the environment variable ``EXAMPLE_WEB``."""
        return f"http://127.0.0.1:{self.port}"

    def counts(self) -> dict[str, Any]:
        """All requests since the last reset, as `compare` takes them."""
        counts: dict[str, Any] = self._control("/__counts__")
        return counts

    def reset(self) -> None:
        self._control("/__reset__")

    def _control(self, path: str) -> Any:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request("GET", path)
            return json.load(connection.getresponse())
        finally:
            connection.close()


@contextmanager
def running_web(seed: int = SEED, port: int = 0) -> Iterator[RunningWeb]:
    command = [sys.executable, "-m", "dusty_web", "--port", str(port), "--seed", str(seed)]
    with subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            if not line:
                raise RuntimeError(f"The dusty web did not start; exit status {process.wait()}.")
            yield RunningWeb(int(line))
        finally:
            process.terminate()
