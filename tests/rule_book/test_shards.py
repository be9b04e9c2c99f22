"""Which shard a site belongs to, and which files of shards go together."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.errors import RuleBookError
from scrapy_dust.rule_book import Entry, RuleBook, shards
from scrapy_dust.rule_book.shards import Shard, missing_of, shard_of, shards_in
from tests.rule_book.books import INDEX, STORY

SITES = [f"s{number}.example" for number in range(40)]


@given(st.text(max_size=20), st.integers(1, 20))
def test_each_site_belongs_to_one_shard(site, count):
    assert sum(Shard(number + 1, count).has(site) for number in range(count)) == 1


def test_which_one_is_the_same_on_every_machine_and_in_every_version():
    assert [site for site in SITES[:12] if Shard(1, 3).has(site)] == ["s1.example", "s9.example"]


@given(st.integers(0, 5000), st.integers(1, 20))
def test_all_shards_together_spend_the_budget(budget, count):
    shares = [Shard(number + 1, count).share_of_budget(budget) for number in range(count)]
    assert sum(shares) == max(budget, count) if budget else not any(shares)


@pytest.mark.parametrize("text", ["", "1", "0/4", "5/4", "1/0", "-1/4", "1/4/2", "a/b", "¼", "1 / 4"])
def test_what_is_no_shard_is_said(text):
    with pytest.raises(ValueError, match=r"--shard takes I/N, such as 2/4 .* got "):
        shard_of(text)


def part(folder, shard, site=None):
    """The file of *shard*, with a rule of the first site that it has."""
    site = site or next(site for site in SITES if shard.has(site))
    path = shard.path_of_part(folder / "dust-rules.json")
    shards.write_part(path, shard, {site: [Entry(INDEX), Entry(STORY)], "nothing.example": []})
    return path


def loaded(*paths):
    return {path: RuleBook.load([path]) for path in paths}


def test_a_part_lies_beside_the_book_and_says_whose_it_is(tmp_path):
    path = part(tmp_path, Shard(2, 4))
    assert path == str(tmp_path / "dust-rules.2-of-4.json")
    assert shards_in(loaded(path)) == (Shard(2, 4),)
    assert len(RuleBook.load([path]).sites) == 1


def test_which_parts_are_missing(tmp_path):
    found = shards_in(loaded(part(tmp_path, Shard(2, 4)), part(tmp_path, Shard(4, 4))))
    assert missing_of(found) == (Shard(1, 4), Shard(3, 4))
    assert missing_of(()) == ()


def test_parts_that_do_not_go_together_are_refused(tmp_path):
    first, other = part(tmp_path, Shard(1, 4)), part(tmp_path, Shard(2, 3))
    with pytest.raises(RuleBookError, match="another number of shards"):
        shards_in(loaded(first, other))
    (tmp_path / "again").mkdir()
    again = part(tmp_path / "again", Shard(1, 4))
    with pytest.raises(RuleBookError, match=r"is of shard 1/4, as .* is"):
        shards_in(loaded(first, again))
    book = str(tmp_path / "book.json")
    RuleBook().save(book)
    assert shards_in(loaded(book)) == ()
    with pytest.raises(RuleBookError, match="cannot be merged at once"):
        shards_in(loaded(first, book))
    stray = next(site for site in SITES if not Shard(1, 4).has(site))
    with pytest.raises(RuleBookError, match="does not belong"):
        shards_in(loaded(part(tmp_path, Shard(1, 4), stray)))


@pytest.mark.parametrize("said", ["9/4", 3, ["1/4"]])
def test_a_part_of_no_shard_is_refused(tmp_path, said):
    path = tmp_path / "part.json"
    path.write_text(json.dumps({"format": 3, "shard": said, "sites": {}}))
    with pytest.raises(RuleBookError, match="'shard' must be such as '2/4'"):
        shards_in(loaded(str(path)))
