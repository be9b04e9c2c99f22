from __future__ import annotations

import pytest
from scrapy.core.engine import ExecutionEngine

from scrapy_dust.trials import run


@pytest.fixture(autouse=True)
def _idle_is_noticed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ExecutionEngine, "_SLOT_HEARTBEAT_INTERVAL", 0.05)


@pytest.fixture(autouse=True)
def _pauses_are_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "PAUSE", 0.05)
