"""Which of Scrapy's own tests come out otherwise with our components as defaults, and why that is right."""

from __future__ import annotations

from collections.abc import Mapping

#: Test, in which ``*`` stands for anything, and the reason.
EXPLAINED: Mapping[str, str] = {
    "test_addons.TestAddonManager::test_fallback_workflow": "The test expects the name of Scrapy's default scheduler.",
    "test_engine_close_spider::test_exception_scheduler": (
        "The test breaks the scheduler by deleting an attribute of Scrapy's; ours has Scrapy's inside."
    ),
}
