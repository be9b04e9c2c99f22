from __future__ import annotations

import pytest

from scrapy_dust.believe.site_profile import Profile
from scrapy_dust.rule_book.profiles import FILE, known_profiles, save_profiles

ONE = Profile(10, frozenset({"sid", "é"}), {"94dc8911": 3})
MADE_UP = Profile(500, frozenset(), {}, has_names=False)


def test_what_is_kept_comes_back_and_the_newer_counts(tmp_path):
    assert known_profiles(tmp_path) == {}
    save_profiles(tmp_path / "state", {"a.example": ONE, "b.example": ONE})
    save_profiles(tmp_path / "state", {"a.example": MADE_UP})
    assert known_profiles(tmp_path / "state") == {"b.example": ONE, "a.example": MADE_UP}


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b'{"format": 2, "sites": {}}', b'{"format": 1, "sites": {"a": {"urls": "x"}}}', b'{"format": 1, "sites": {"a": {"urls": 1, "names": 3, "uses": {}}}}'],
)  # fmt: skip
def test_a_damaged_file_is_begun_anew(tmp_path, content):
    (tmp_path / FILE).write_bytes(content)
    assert known_profiles(tmp_path) == {}
    save_profiles(tmp_path, {"a.example": ONE})
    assert known_profiles(tmp_path) == {"a.example": ONE}
