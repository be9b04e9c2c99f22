"""`DUST_VALIDATION_TEST = "paper"` with real fetches, and validation by another log."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from scrapy_dust.believe.validation import Verdict
from scrapy_dust.engines.local import mine_log
from scrapy_dust.page.site_log import site_log
from scrapy_dust.rule_book import RuleBook
from scrapy_dust.rule_book.verdicts import Verdicts
from scrapy_dust.settings import DustSettings
from scrapy_dust.trials.learning import decided_from_log, on_another_log
from tests.crawl.site import Answer, serving
from tests.trials.running import html, log_of, prose, tried

LITERAL = {"validation_test": "paper", "learner": "dustbuster", "similar": "none"}
PATHS = [f"/p{n}/{name}" for n in range(40) for name in ("", "index.html")]


def web(path: str) -> Answer:
    """One of five index.html is another page, which a hundred draws find; all have a word that no other page has."""
    number = path.removeprefix("/p").partition("/")[0]
    if not number.isdecimal() or path not in PATHS:
        return Answer(b"", 404)
    is_other = path.endswith("index.html") and int(number) % 5 == 2
    return html(prose("other" if is_other else number))


@pytest.mark.parametrize(("threshold", "valid"), [(0.5, {"/index.html$ → /$"}), (0.01, set())])
def test_n_and_epsilon_decide_alone(threshold, valid):
    with serving(web) as site:
        done = tried(
            {site.name: log_of(site, PATHS, web)}, refutation_threshold=threshold, max_loss=0.0, **LITERAL
        )
        asked = site.times()
    assert valid <= done.valid
    assert bool(done.valid) is bool(valid)
    assert set(asked) - {"/robots.txt"} <= {*PATHS, *(path.rstrip("/") for path in PATHS)}
    assert set(asked.values()) == {1}


def visits(count: int, odd: tuple[int, ...] = ()):
    with serving(web) as site:
        return [
            replace(one, url=one.url.replace(site.name, "a.example"), sketch=(9, 9, 9, 9))
            if one.url.endswith(tuple(f"/p{n}/index.html" for n in odd))
            else replace(one, url=one.url.replace(site.name, "a.example"))
            for one in log_of(site, PATHS[: 2 * count], lambda path: html(prose(path.split("/")[1])))
        ]


@pytest.mark.parametrize(("odd", "verdict"), [((), Verdict.VALID), ((3, 5, 7, 9), Verdict.REFUTED)])
def test_rules_of_one_log_are_tried_on_the_urls_of_another(odd, verdict):
    settings = DustSettings(**LITERAL)
    mined = mine_log("a.example", site_log(visits(9)), settings)
    on_another = on_another_log([mined], {"a.example": visits(12, odd)}, settings)
    (trial,) = decided_from_log(on_another, RuleBook(), Verdicts(), settings)
    assert {one.verdict for one in trial.decisions} == {verdict}
    assert len(trial.urls) == 24


def test_a_site_that_the_other_log_does_not_have_is_left_out():
    mined = mine_log("a.example", site_log(visits(9)), DustSettings())
    assert list(on_another_log([mined], {}, DustSettings())) == []


def test_dustmine_says_how_many_are_valid_by_the_other_log_and_states_no_bound(tmp_path, capsys):
    for name, odd in (("one", -1), ("other", -1)):
        lines = (
            {
                "url": f"http://a.example{path}",
                "status": 200,
                "sketch": [number // 2, 1, 2, 3 + (number == odd)],
            }
            for number, path in enumerate(PATHS)
        )
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    from scrapy.cmdline import execute  # noqa: PLC0415  It reads the settings of a project.

    argv = ["scrapy", "dustmine", str(tmp_path / "one.jsonl"), "--validate-on", str(tmp_path / "other.jsonl")]
    argv += ["--no-validate", "--dry-run", "--json", "--learner", "dustbuster"]
    argv += ["-s", "DUST_VALIDATION_TEST=paper", "-s", f"DUST_DIR={tmp_path}"]
    with pytest.raises(SystemExit) as ended:
        execute(argv)
    assert not ended.value.code
    told = json.loads(capsys.readouterr().out)
    assert (told["valid"], told["probation"], told["lost_at_most"]) == (1, 0, None)
