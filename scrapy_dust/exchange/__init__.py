"""Imports rules of other programs and exports ours, in the other programs' formats.

A rule that one side cannot express is never altered: it is reported, with the reason.
"""

from __future__ import annotations

from scrapy_dust.exchange.formats import EXPORTS, IMPORTS, exported, imported
from scrapy_dust.exchange.transfer import Exported, Imported, Unsaid

__all__ = ["EXPORTS", "IMPORTS", "Exported", "Imported", "Unsaid", "exported", "imported"]
