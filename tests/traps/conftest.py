"""As in tests/crawl."""

from __future__ import annotations

from tests.crawl.conftest import _idle_is_noticed_at_once, settings

__all__ = ["_idle_is_noticed_at_once", "settings"]
