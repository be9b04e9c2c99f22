"""Workers as their users start them: each a process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.redis.conftest import RedisServer
from tests.waiting import PATIENCE, wait_until

WORKER = Path(__file__).with_name("worker.py")

#: scrapy-redis as its documentation has it: workers wait for more to start from until they are told to stop.
SHARING = {"SCHEDULER": "scrapy_redis.scheduler.Scheduler"}


class Worker:
    def __init__(
        self,
        kind: str,
        server: RedisServer,
        folder: Path,
        number: int,
        settings: Mapping[str, Any],
        start: str = "",
    ) -> None:
        self.out = folder / f"{number}.json"
        self.log = folder / f"{number}.log"
        own = {
            "ADDONS": {"scrapy_dust.Addon": 900},
            "DUPEFILTER_CLASS": "scrapy_dust.redis.DustRedisDupeFilter",
            "REDIS_URL": server.url,
            "DUST_DIR": str(folder / "dust"),
            "DUST_LOG_ENABLED": False,
            "DUST_CANARY_RATE": 0,
            # What is put last may be fetched early, under another URL of its class, by chance.
            "DUST_TRAPS": "off",
            # Longer than a machine that does much else at a time keeps a worker waiting.
            "DUST_REDIS_LEASE": 120,
            "TELNETCONSOLE_ENABLED": False,
            "REMOTE_CONTROL_ENABLED": False,
            "CONCURRENT_REQUESTS": 4,
            "CONCURRENT_REQUESTS_PER_DOMAIN": 4,
            "RETRY_TIMES": 1,
            "LOG_FILE": str(self.log),
            **(SHARING if kind == "sharing" else {}),
            **settings,
        }
        arguments = {"out": str(self.out)} | ({"start": start} if start else {})
        program = [sys.executable, str(WORKER), kind, json.dumps(own), json.dumps(arguments)]
        root = WORKER.parents[2]
        self.process = subprocess.Popen(
            program,
            cwd=folder,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(
                    [str(root), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
                ),
            },
        )

    def has_said(self, words: str) -> bool:
        return self.log.exists() and words in self.log.read_text()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)

    def result(self) -> dict[str, Any]:
        self.process.wait(PATIENCE)
        found: dict[str, Any] = json.loads(self.out.read_text())
        return found


def wait_until_all_are_idle(server: RedisServer) -> None:
    """Nothing is queued, nobody is at anything, and nothing waits for its class; then workers have a moment to do too much."""

    def is_idle() -> bool:
        return not [
            key
            for key in server.client.keys("*")
            if key.endswith((":requests", ":with_heirs")) or ":held:" in key
        ]

    wait_until(is_idle)
    time.sleep(1)
    wait_until(is_idle)
