from __future__ import annotations

import signal
from contextlib import suppress

import pytest

from scrapy_dust.commands.ctrl_c import heeding_ctrl_c


def test_ctrl_c_that_was_lost_within_the_block_ends_it():
    went_on = []

    def importing():
        with heeding_ctrl_c():
            with suppress(KeyboardInterrupt):  # as Python does in callbacks
                signal.raise_signal(signal.SIGINT)
            went_on.append(True)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            importing()
        assert went_on
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_without_ctrl_c_nothing_is_raised_and_another_handler_stays():
    def other(*_):
        """Does nothing."""

    before = signal.signal(signal.SIGINT, other)
    try:
        with heeding_ctrl_c():
            assert signal.getsignal(signal.SIGINT) is other
    finally:
        signal.signal(signal.SIGINT, before)
    with heeding_ctrl_c():
        pass
    assert signal.getsignal(signal.SIGINT) == before
