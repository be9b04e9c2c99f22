"""A Redis of the tests' own, on a port of its own. $DUST_REDIS_SERVER names the program."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.crawl.site import free_port
from tests.waiting import PATIENCE, wait_until


class RedisServer:
    """Keeps what it is told in a file, so that it can be gone and back."""

    def __init__(self, program: str, folder: Path) -> None:
        self.port, self._folder = free_port(), folder
        self._command = [program, "--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(folder)]
        self._command += ["--save", "", "--appendonly", "yes", "--appendfsync", "no"]
        self.start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    @property
    def client(self) -> Any:
        import redis  # noqa: PLC0415

        return redis.Redis(port=self.port, decode_responses=True)

    @property
    def raw_client(self) -> Any:
        """For values that are no text."""
        import redis  # noqa: PLC0415

        return redis.Redis(port=self.port)

    def start(self) -> None:
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL)
        wait_until(self._answers)

    def _answers(self) -> bool:
        assert self._process.poll() is None, "Redis has ended"
        ping = ["redis-cli", "-p", str(self.port), "ping"]
        return subprocess.run(ping, capture_output=True, check=False).stdout == b"PONG\n"

    def stop(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(PATIENCE)


@pytest.fixture(scope="module")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    program = shutil.which(os.environ.get("DUST_REDIS_SERVER", "redis-server"))
    if program is None:
        pytest.skip("Redis is not here; install redis-server, or set DUST_REDIS_SERVER to where it is")
    for package in ("redis", "scrapy_redis"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed; pip install --group e2e brings it")
    server = RedisServer(program, tmp_path_factory.mktemp("redis"))
    yield server
    server.stop()
