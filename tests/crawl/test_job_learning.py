"""What a job has learned is in its JOBDIR."""

from __future__ import annotations

from scrapy_dust.crawl.job_rules import LEARNED_FILE, JobLearning, LearnedBefore, learned_before, set_aside_by
from scrapy_dust.crawl.rules_into_force import ShownUrls
from scrapy_dust.rules.guards import Condition
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.substitution import Substitute
from scrapy_dust.settings import DustSettings

RULES = (
    Rule.of(Substitute("/index.html", "/", end=True)),
    Rule.of(DropParameter("sid")),
    Rule((DropParameter("ref"),), (Condition("?ref", "rss"),)),
)


def test_rules_come_back_in_their_order_and_the_last_word_on_a_site_counts(tmp_path):
    learning = JobLearning(str(tmp_path), DustSettings())
    learning.add_rules("s.test", RULES[:1])
    learning.add_log("a.jsonl")
    learning.add_rules("s.test", RULES)
    JobLearning(str(tmp_path), DustSettings()).add_log("b.jsonl")
    before = learned_before(str(tmp_path))
    assert before.rules == {"s.test": RULES}
    assert before.logs == ("a.jsonl", "b.jsonl")
    assert not set_aside_by(before, DustSettings())


def test_a_line_that_a_kill_cut_short_is_not_read(tmp_path):
    JobLearning(str(tmp_path), DustSettings()).add_rules("s.test", RULES)
    whole = (tmp_path / LEARNED_FILE).read_text()
    (tmp_path / LEARNED_FILE).write_text(whole + whole[: len(whole) // 2].splitlines()[-1])
    assert learned_before(str(tmp_path)).rules == {"s.test": RULES}


def test_where_rules_are_applied_in_another_way_their_sites_are_set_aside(tmp_path):
    JobLearning(str(tmp_path), DustSettings()).add_rules("s.test", RULES)
    before = learned_before(str(tmp_path))
    assert set_aside_by(before, DustSettings(passes=3)) == {"s.test"}
    assert set_aside_by(before, DustSettings(mode="shadow")) == {"s.test"}


def test_what_cannot_be_read_is_learned_again(tmp_path):
    (tmp_path / LEARNED_FILE).write_text("{}}\n")
    assert learned_before(str(tmp_path)) == LearnedBefore()


def test_urls_that_showed_pages_are_forgotten_the_first_ones_of_the_site_seen_longest_ago_first():
    shown = ShownUrls(most=4)
    for site, url in [
        ("a", "a1"),
        ("b", "b1"),
        ("a", "a2"),
        ("b", "b2"),
        ("b", "b3"),
        ("b", "b4"),
        ("b", "b5"),
    ]:
        shown.add(site, url)
    assert {site: list(urls) for site, urls in shown.by_site.items()} == {"b": ["b2", "b3", "b4", "b5"]}
    made = []
    shown.make_again("b", made.append)
    while not shown.is_made:
        shown.go_on(1)
    assert made == ["b2", "b3", "b4", "b5"]
