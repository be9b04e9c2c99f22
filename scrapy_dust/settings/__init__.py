"""Every ``DUST_*`` setting, declared once: its name, default, bounds and meaning.

`DustSettings.from_settings` is the only code that reads them.
"""

from __future__ import annotations

from scrapy_dust.settings.parsing import PREFIX, setting_name
from scrapy_dust.settings.table import DustSettings

__all__ = ["PREFIX", "DustSettings", "setting_name"]
