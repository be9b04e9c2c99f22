"""Keys are those of yesterday, whatever the versions of what they are made with."""

from __future__ import annotations

from importlib.metadata import version

from tests.crawl.golden_keys import keys, with_what, written

#: What w3lib made another canonical form of in 2.5.
_SINCE_2_5 = ("/..", "[]")


def test_no_fingerprint_has_changed():
    before, now = written(), keys()
    assert before.keys() == now.keys()
    if tuple(map(int, version("w3lib").split(".")[:2])) < (2, 5):
        now = {name: found for name, found in now.items() if not any(text in name for text in _SINCE_2_5)}
    changed = {
        whose: [name for name in now if now[name][at] != before[name][at]]
        for at, whose in enumerate(("Scrapy's", "ours"))
    }
    assert changed == {"Scrapy's": [], "ours": []}, f"With {with_what()} what was seen before is seen anew."
