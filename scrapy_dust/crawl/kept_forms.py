"""A file beside the logs that tells the next crawl which forms of URLs have brought nothing new (see `trapping`).

Losing the file costs fetches and nothing else, so an unreadable file is no error: a new one is begun.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from scrapy_dust.traps.ledger import Kept

#: In ``DUST_DIR``.
FILE = "traps.json"
#: Sites that are kept, those crawled last, and forms of each, those that brought least.
_SITES, _FORMS = 2000, 200


class KeptForms:
    """Reads and writes the file of URL forms in the folder of logs and state."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self.sites = self._read()

    def save(self, sites: Mapping[str, Kept]) -> None:
        """Add what a crawl has found, and leave what another crawl has saved meanwhile."""
        if not sites:
            return
        known = self._read()
        for site in sites:
            known.pop(site, None)
        known.update(sites)
        told = {site: _to_json(kept) for site, kept in list(known.items())[-_SITES:]}
        made = self._path.with_name(f".{FILE}.{os.getpid()}")
        with suppress(OSError):
            made.parent.mkdir(parents=True, exist_ok=True)
            made.write_text(json.dumps({"format": 1, "sites": told}, indent=1), "utf-8")
            made.replace(self._path)

    def _read(self) -> dict[str, Kept]:
        try:
            told = json.loads(self._path.read_bytes())
            return {str(site): _from_json(one) for site, one in told["sites"].items()}
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return {}


def _to_json(kept: Kept) -> dict[str, Any]:
    least = sorted(kept.forms, key=lambda form: (kept.forms[form], form))[:_FORMS]
    return {"idle": list(kept.idle), "forms": {form: kept.forms[form] for form in least}}


def _from_json(told: Mapping[str, Any]) -> Kept:
    forms = {str(form): float(credit) for form, credit in told["forms"].items()}
    return Kept(tuple(map(str, told["idle"])), forms)
