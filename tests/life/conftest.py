from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from scrapy.core.engine import ExecutionEngine

from tests.life.both import Both, crawled_both_ways


@pytest.fixture(autouse=True)
def _idle_is_noticed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ExecutionEngine, "_SLOT_HEARTBEAT_INTERVAL", 0.05)


@pytest.fixture
def both(tmp_path: Path) -> Callable[..., Both]:
    """Crawls sites with a spider by plain Scrapy, and then with us."""
    return partial(crawled_both_ways, folder=tmp_path)
