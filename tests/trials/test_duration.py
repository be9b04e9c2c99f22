from __future__ import annotations

import sys

import pytest
from scrapy.settings import Settings

from scrapy_dust.commands.progress import Progress
from scrapy_dust.settings import DustSettings
from scrapy_dust.trials.duration import longest, warning


@pytest.mark.parametrize(
    ("delay", "budget", "seconds"),
    [(0, 1000, 0), (1, 1000, 1000), (0.25, 100, 25)],
)
def test_validation_takes_at_most_a_delay_for_each_fetch_of_one_site(delay, budget, seconds):
    own = DustSettings(validation_budget=budget)
    assert longest(Settings({"DOWNLOAD_DELAY": delay}), own) == seconds


def test_the_time_is_told_where_it_is_long():
    assert warning(Settings({"DOWNLOAD_DELAY": 0.01}), DustSettings()) is None
    said = warning(Settings({"DOWNLOAD_DELAY": 1}), DustSettings())
    assert said is not None
    assert said.endswith("With DOWNLOAD_DELAY = 1 that takes up to 17 min.")


class Stream:
    """A terminal, or none, on which somebody types *answer*."""

    def __init__(self, answer, *, is_terminal=True):
        self.answer, self.is_terminal, self.said = answer, is_terminal, ""

    def isatty(self):
        return self.is_terminal

    def readline(self):
        return self.answer

    def write(self, text):
        self.said += text

    def flush(self):
        pass


@pytest.mark.parametrize(
    ("answer", "agreed"), [("\n", True), ("y\n", True), ("", True), ("n\n", False), ("No\n", False)]
)
def test_a_person_on_a_terminal_may_say_no(monkeypatch, answer, agreed):
    terminal = Stream(answer)
    monkeypatch.setattr(sys, "stdin", terminal)
    assert Progress(terminal).confirms("It takes 17 min.", "Validate?") is agreed
    assert terminal.said == "It takes 17 min.\nValidate? [Y/n] "


def test_through_a_pipe_nobody_is_asked(monkeypatch):
    pipe = Stream("n\n", is_terminal=False)
    monkeypatch.setattr(sys, "stdin", pipe)
    assert Progress(pipe).confirms("It takes 17 min.", "Validate?")
    assert pipe.said == "It takes 17 min.\n"
