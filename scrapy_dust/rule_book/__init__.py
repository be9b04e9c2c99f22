"""Rule books on disk, and the verdicts of trials that need not be repeated."""

from __future__ import annotations

from scrapy_dust.rule_book.book import RuleBook, update
from scrapy_dust.rule_book.entries import Entry, Evidence, Status, rule_id
from scrapy_dust.rule_book.safe_files import in_project

__all__ = ["Entry", "Evidence", "RuleBook", "Status", "in_project", "rule_id", "update"]
