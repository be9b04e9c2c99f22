"""The report of a run of dustmine: one HTML file for a browser without a network."""

from __future__ import annotations

from scrapy_dust.report.gathering import Report, report_of
from scrapy_dust.report.page import html_of

__all__ = ["Report", "html_of", "report_of"]
