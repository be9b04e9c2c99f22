"""The network itself, small and soon trained: what it learns, that it learns the same again, and what is let through."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.table3 import SITE, case_urls, log_of_cases
from scrapy_dust.believe.evidence import LogEvidence
from scrapy_dust.believe.validation import Verdict
from scrapy_dust.learners.registry import NETWORKS
from scrapy_dust.learners.seq2seq import Seq2Seq, ValidatedSeq2Seq
from scrapy_dust.neural.model_files import load_model
from scrapy_dust.neural.params import PAPER, PLUS, Optimizer, Precision
from scrapy_dust.neural.torch_extra import is_installed
from scrapy_dust.neural.trained_models import trained_model
from scrapy_dust.visits.pages import SiteLog
from tests.learners.logs import log_of

needs_network = pytest.mark.skipif(
    not is_installed(), reason="PyTorch is not here; pip install 'scrapy-dust[neural]' for it"
)
pytestmark = [pytest.mark.e2e, needs_network]

#: The paper's reading, loss and decoding; narrower, without repetitions, and with an optimizer that needs fewer steps.
SMALL_PAPER = replace(
    PAPER,
    embedding=48,
    hidden=48,
    optimizer=Optimizer.ADAM,
    rate=1e-2,
    distinct=True,
    steps=20,
    epochs=36,
    patience=36,
)
SMALL_PLUS = replace(PLUS, embedding=48, hidden=48, rate=5e-3, epochs=24, patience=24)
LOG = log_of_cases(60)
CASES = [case_urls(Random(seed)) for seed in range(5)]


@pytest.fixture(scope="module", params=["paper", "plus"])
def translator(request):
    from scrapy_dust.neural.translator import Translator  # noqa: PLC0415  Needs PyTorch.

    return Translator(trained_model(SITE, LOG, SMALL_PAPER if request.param == "paper" else SMALL_PLUS))


@pytest.mark.parametrize("case", [1, 2, 3, 4])
def test_cases_1_to_4_of_the_papers_table_3_are_translated(translator, case):
    for cases in CASES:
        source, oracle = cases[case]
        assert translator.key(source) == oracle


def test_case_5_of_the_papers_table_3_stands_in_a_database_and_cannot_be(translator):
    for cases in CASES:
        source, oracle = cases[5]
        assert translator.key(source) != oracle


def test_one_by_one_and_all_together_urls_are_translated_alike(translator):
    urls = [source for cases in CASES for source, _ in cases.values()]
    together = translator.keys(urls)
    translator._known.clear()
    assert {url: translator.key(url) for url in urls} == together


@given(url=st.text(max_size=30) | st.text("/?=&.#a7é\0", max_size=20).map(f"http://{SITE}/{{}}".format))
def test_any_string_has_a_key_and_always_the_same(translator, url):
    key = translator.key(url)
    assert translator.key(url) == key
    assert key == url or key.startswith(f"http://{SITE}")


def test_behind_the_gate_no_two_pages_that_the_log_tells_apart_get_one_key():
    learned = ValidatedSeq2Seq(SMALL_PLUS).learn(SITE, LOG)
    evidence = LogEvidence(LOG, [page.url for page in LOG.pages])
    shown: dict[str, set[str]] = {}
    for url in evidence.urls:
        shown.setdefault(learned.key(url), set()).add(evidence.digest(url))
    assert all(len(digests) == 1 for digests in shown.values())
    assert len(shown) < len(evidence.urls) - 150
    source, oracle = CASES[0][5]
    assert learned.key(source) != learned.key(oracle)


def test_the_same_seed_makes_the_same_network_and_another_seed_another():
    tiny = replace(SMALL_PLUS, epochs=2)
    first, again, other = (trained_model(SITE, LOG, params) for params in (tiny, tiny, replace(tiny, seed=1)))
    assert all(np.array_equal(first.weights[name], again.weights[name]) for name in first.weights)
    assert any(not np.array_equal(first.weights[name], other.weights[name]) for name in first.weights)


class Interrupted(Exception):
    pass


def test_training_that_was_interrupted_goes_on_to_the_same_network(tmp_path):
    for small in (
        replace(SMALL_PLUS, epochs=4),
        replace(SMALL_PAPER, optimizer=Optimizer.SGD, epochs=3, distinct=False),
    ):
        params = replace(small, patience=9)
        seen = []

        def watch(site, epoch, most, seen=seen):
            seen.append(epoch.number)
            if len(seen) == 3:
                raise Interrupted

        whole = trained_model(SITE, LOG, params)
        with pytest.raises(Interrupted):
            trained_model(SITE, LOG, params, folder=tmp_path, watch=watch)
        parts = trained_model(SITE, LOG, params, folder=tmp_path, watch=watch)
        # The epoch that was under way when it was interrupted was not yet kept.
        assert seen == [1, 2, *range(3, 4), *range(3, params.epochs + 1)]
        assert all(np.array_equal(whole.weights[name], parts.weights[name]) for name in whole.weights)
        again = trained_model(SITE, LOG, params, folder=tmp_path, watch=watch)
        assert len(seen) == params.epochs + 1
        assert all(np.array_equal(whole.weights[name], again.weights[name]) for name in whole.weights)
        assert "# The URLs of forums.example" in (tmp_path / f"{SITE}.md").read_text(encoding="utf-8")


def test_training_stops_when_what_is_held_out_gets_no_better():
    model = trained_model(SITE, LOG, replace(SMALL_PLUS, rate=0.0, steps=1, patience=2, epochs=50))
    assert len(model.state.epochs) == 3
    assert model.state.best_epoch.number == 1


@pytest.mark.parametrize(
    "switches",
    [
        {"copies": False},
        {"whole": False},
        {"plausible": False},
        {"beam": 1},
        {"by_length": False, "distinct": False},
        {"precision": Precision.BF16},
        {"singles": False},
    ],
    ids=str,
)
def test_each_of_ours_can_be_switched_off(switches):
    from scrapy_dust.neural.translator import Translator  # noqa: PLC0415  Needs PyTorch.

    params = replace(SMALL_PLUS, **switches, epochs=1, confidence=0.0)
    urls = [page.url for page in LOG.pages[:50]]
    assert Translator(trained_model(SITE, LOG, params)).keys(urls).keys() == set(urls)


@pytest.mark.parametrize("name", NETWORKS)
def test_who_has_learned_nothing_changes_nothing(name):
    for log in (
        SiteLog(pages=()),
        log_of(*([f"http://a.example/d{n % 7}/{n}.html?v={n}"] for n in range(99))),
    ):
        learned = NETWORKS[name]().learn("a.example", log)
        assert learned.rules == ()
        assert learned.key("http://a.example/d1/?v=2#x") == "http://a.example/d1/?v=2#x"


def test_what_was_learned_of_one_site_says_nothing_about_another():
    learned = Seq2Seq(replace(SMALL_PLUS, epochs=2)).learn(SITE, LOG)
    assert len(learned.rules) == 1
    assert learned.key("http://other.example/users/7/x") == "http://other.example/users/7/x"


def test_dustmine_trains_says_so_keeps_the_model_and_puts_what_it_proposes_on_trial(tmp_path):
    lines = []
    for page in LOG.pages:
        line = {name: getattr(page, name) for name in ("url", "simhash", "title", "text_digest")}
        lines.append(json.dumps(line | {"status": 200, "size": 2000, "sketch": list(page.sketch)}))
    (tmp_path / "log.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "scrapy",
        "dustmine",
        "log.jsonl",
        "--learner",
        "seq2seq",
        "--no-validate",
    ]
    options = ["--rules", "rules.json", "-s", "DUST_DIR=dust", "-s", "DUST_NETWORK_EPOCHS=6", "--json"]
    done = subprocess.run(
        [*command, *options],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONUTF8": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "of at most 6, loss " in done.stderr
    assert json.loads(done.stdout)["valid"] > 0
    [model] = (tmp_path / "dust").rglob("*.model")
    assert load_model(model).site == SITE
    assert model.with_suffix(".md").is_file()
    wrong = [
        one["text"]
        for one in json.loads(done.stdout)["decisions"]
        if one["verdict"] == str(Verdict.VALID) and "prev" in one["text"]
    ]
    assert wrong == []
