from __future__ import annotations

import logging
import re

from scrapy_dust.crawl.metrics import exposition
from scrapy_dust.rule_book.entries import rule_id
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from tests.crawl.crawling import crawl
from tests.crawl.site import page, serving

SID = Rule.of(DropParameter("sid"))
LINE = re.compile(r'([a-zA-Z_:][a-zA-Z0-9_:]*)\{((?:[a-z]+="(?:[^"\\\n]|\\[\\"n])*",?)+)\} (-?[0-9.e+-]+)')


def parsed(text):
    """As Prometheus' format has it; what is not so fails."""
    found = {}
    typed = set()
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            name, kind = line.split()[2:]
            assert kind == "gauge"
            assert name not in typed
            typed.add(name)
        elif not line.startswith("# HELP "):
            match = LINE.fullmatch(line)
            assert match, line
            assert match[1] in typed
            found[match[1], match[2]] = float(match[3])
    return found


def test_our_numbers_are_there_and_those_of_rules_have_their_ids():
    stats = {
        "dust/filtered": 7,
        "dust/filtered/94dc8911": 5,
        "dust/filtered/others": 2,
        "dust/canaries/different": 1,
        "dust/rules": 3,
        "dust/some/name": "text",
        "downloader/response_count": 9,
    }
    assert parsed(exposition(stats, 'a "spider"\\\n')) == {
        ("scrapy_dust_filtered", r'spider="a \"spider\"\\\n"'): 7,
        ("scrapy_dust_filtered_by_rule", r'spider="a \"spider\"\\\n",rule="94dc8911"'): 5,
        ("scrapy_dust_filtered_by_rule", r'spider="a \"spider\"\\\n",rule="others"'): 2,
        ("scrapy_dust_canaries_different", r'spider="a \"spider\"\\\n"'): 1,
        ("scrapy_dust_rules", r'spider="a \"spider\"\\\n"'): 3,
    }


def test_a_crawl_leaves_its_numbers(with_rules, tmp_path):
    file = tmp_path / "dust.prom"
    with serving(lambda path: page()) as site:
        urls = [site.url(f"/p?sid={sid}") for sid in "abc"]
        crawl(urls, with_rules(site, SID) | {"DUST_METRICS_FILE": str(file)})
        identity = rule_id(site.name, SID)
    found = parsed(file.read_text())
    assert found["scrapy_dust_filtered", 'spider="visitor"'] == 2
    assert found["scrapy_dust_filtered_by_rule", f'spider="visitor",rule="{identity}"'] == 2
    assert [one.name for one in tmp_path.iterdir() if "prom" in one.name] == ["dust.prom"]


def test_where_they_cannot_be_written_the_crawl_goes_on(with_rules, tmp_path, caplog):
    caplog.set_level(logging.WARNING, "scrapy_dust.crawl.periodic_file")
    with serving(lambda path: page()) as site:
        result = crawl(
            [site.url("/p")], with_rules(site, SID) | {"DUST_METRICS_FILE": str(tmp_path / "no" / "x")}
        )
    assert len(result.got) == 1
    (said,) = [one.getMessage() for one in caplog.records if one.name == "scrapy_dust.crawl.periodic_file"]
    assert said == (
        f"{tmp_path / 'no' / 'x'}: DUST_METRICS_FILE cannot be written (No such file or directory)."
        " Check the path and its permissions."
    )
