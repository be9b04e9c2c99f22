"""Whatever the process beside a crawl does, the crawl does not wait for it."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from scrapy_dust.crawl.online import LearnerBeside
from scrapy_dust.online.messages import Begin, Compare, Compared
from scrapy_dust.settings import DustSettings
from tests.waiting import PATIENCE, wait_until

#: Much more than a pipe holds.
ASKED = [Compare(f"http://s.test/{n}?{'x' * 2000}", f"http://s.test/{n}") for n in range(300)]


@pytest.fixture
def beside(tmp_path):
    (tmp_path / "log").touch()
    learner = LearnerBeside(Begin(str(tmp_path / "log"), DustSettings(), str(tmp_path)))
    yield learner
    learner.close()


def pid_of(learner):
    return learner._process.pid


def tell_all(learner):
    for one in ASKED:
        learner.send(one)


def test_one_that_does_not_listen_holds_nothing_up_and_misses_nothing(beside):
    os.kill(pid_of(beside), signal.SIGSTOP)
    telling = threading.Thread(target=tell_all, args=(beside,), daemon=True)
    telling.start()
    telling.join(PATIENCE)
    is_held_up = telling.is_alive()
    os.kill(pid_of(beside), signal.SIGCONT)
    assert not is_held_up
    answers = []

    def has_answered():
        answers.extend(beside.received())
        return len(answers) >= len(ASKED)

    wait_until(has_answered)
    assert sorted(answer.canary for answer in answers) == sorted(asked.canary for asked in ASKED)
    assert all(answer == Compared(answer.canary, is_same=False) for answer in answers)


def test_one_that_has_ended_is_told_in_vain(beside):
    beside._process.kill()
    beside._process.wait()
    tell_all(beside)
    assert list(beside.received()) == []
    assert beside.exit_status == -signal.SIGKILL
