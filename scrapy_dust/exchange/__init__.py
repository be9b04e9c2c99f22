"""Rules of other programs come in, and ours go out, in their formats.

What a format, or we, cannot say is never said differently: it is named, with the reason.
"""

from __future__ import annotations

from scrapy_dust.exchange.formats import EXPORTS, IMPORTS, exported, imported
from scrapy_dust.exchange.travelling import Exported, Imported, Unsaid

__all__ = ["EXPORTS", "IMPORTS", "Exported", "Imported", "Unsaid", "exported", "imported"]
