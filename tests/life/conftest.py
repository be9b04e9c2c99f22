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


#: What is still lost, and where it is to be mended.
OPEN = {
    "errors for whoever asks a second time": "a keeper is fetched again to be compared, though the log could answer",
    "pages behind a wall for a while": "walls are not recognized",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for name, why in OPEN.items():
            if name in item.nodeid and "tests/life/" in item.nodeid:
                item.add_marker(pytest.mark.xfail(reason=why, strict=False))
