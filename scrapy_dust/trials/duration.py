"""Estimates before the first fetch how long validation may take under the project's ``DOWNLOAD_DELAY``."""

from __future__ import annotations

from scrapy.settings import BaseSettings

from scrapy_dust.settings import DustSettings

#: Seconds up to which the time is not worth a sentence.
_SHORT = 60.0


def longest(project: BaseSettings, settings: DustSettings) -> float:
    """Seconds that validation takes at most because of ``DOWNLOAD_DELAY``: one site gets all fetches, one by one."""
    return settings.validation_budget * max(0.0, project.getfloat("DOWNLOAD_DELAY"))


def warning(project: BaseSettings, settings: DustSettings) -> str | None:
    """A sentence with the longest time that validation may take; None where the time is short."""
    seconds = longest(project, settings)
    if seconds <= _SHORT:
        return None
    minutes = round(seconds / 60)
    time = f"{minutes} min" if minutes < 90 else f"{minutes / 60:.1f} h"
    delay = project.getfloat("DOWNLOAD_DELAY")
    return (
        f"Validation fetches at most {settings.validation_budget} pages. "
        f"With DOWNLOAD_DELAY = {delay:g} that takes up to {time}."
    )
