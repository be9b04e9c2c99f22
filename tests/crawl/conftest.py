from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scrapy.core.engine import ExecutionEngine

from scrapy_dust.crawl import proving
from scrapy_dust.rules.rule import Rule
from tests.crawl.crawling import write_rules
from tests.crawl.site import Site


@pytest.fixture(autouse=True)
def _idle_is_noticed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ExecutionEngine, "_SLOT_HEARTBEAT_INTERVAL", 0.05)


@pytest.fixture(autouse=True)
def _no_rule_has_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Canaries are those that the rate draws. That each rule has one of its own is tested in tests/life."""
    monkeypatch.setattr(proving, "_FIRST", 1 << 60)


@pytest.fixture
def settings(tmp_path: Path) -> dict[str, Any]:
    """Of a crawl without rules, all of whose files are in `tmp_path`."""
    return {"DUST_DIR": str(tmp_path / "dust"), "DUST_RULES": [str(tmp_path / "dust-rules.json")]}


@pytest.fixture
def with_rules(tmp_path: Path, settings: dict[str, Any]) -> Callable[..., dict[str, Any]]:
    """Settings of a crawl with these rules for that site."""

    def write(site: Site, *rules: Rule) -> dict[str, Any]:
        write_rules(tmp_path / "dust-rules.json", {site.name: rules})
        return settings

    return write
