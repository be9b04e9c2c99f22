"""`DUST_IGNORE`: what is no CSS selector stops the crawl with a sentence."""

from __future__ import annotations

import pytest
from scrapy.settings import Settings

from scrapy_dust.settings import DustSettings


def test_selectors_are_taken_as_they_are():
    assert DustSettings.from_settings(Settings({"DUST_IGNORE": "#related, .ad"})).ignore == (
        "#related",
        ".ad",
    )


@pytest.mark.parametrize("selector", ["div >", "a[", "", "123"])
def test_what_is_no_selector_is_said(selector):
    with pytest.raises(ValueError, match="DUST_IGNORE must be a list of CSS selectors"):
        DustSettings.from_settings(Settings({"DUST_IGNORE": [selector, ".ad"]}))
