"""Without PyTorch: one sentence, and nothing of it is imported by who does not ask for a network."""

from __future__ import annotations

import subprocess
import sys

import pytest

from scrapy_dust.learners.seq2seq import Seq2Seq
from scrapy_dust.neural.torch_extra import NoNetwork, is_installed
from scrapy_dust.settings import DustSettings
from scrapy_dust.trials.learning import mine
from scrapy_dust.trials.reading import Reporter
from tests.learners.logs import SITE, log_of

DUSTY = log_of(*([f"http://a.example/s/{n}", f"http://a.example/story/{n}/title"] for n in range(30)))


@pytest.mark.skipif(is_installed(), reason="PyTorch is here; what is said without it cannot be seen")
def test_who_asks_for_a_network_without_pytorch_is_told_what_to_install():
    for ask in (
        lambda: Seq2Seq().learn(SITE, DUSTY),
        lambda: list(mine({}, DustSettings(learner="seq2seq"), Reporter())),
    ):
        with pytest.raises(NoNetwork) as failed:
            ask()
        assert str(failed.value).count(".") == 2
        assert "pip install scrapy-dust[neural]" in str(failed.value)


def test_pytorch_is_imported_by_nothing_that_does_not_train():
    code = (
        "import sys, scrapy_dust, scrapy_dust.commands.mining, scrapy_dust.commands.evaluating;"
        "print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout == "False\n"
