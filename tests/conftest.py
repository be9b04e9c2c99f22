"""What all tests share: how long hypothesis looks, and where the data is that is not in the repository."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Before any module imports it.
pytest.register_assert_rewrite("tests.life.both")

# A machine that is busy is not a bug, so nothing has a deadline.
_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile("dev", deadline=None, max_examples=60, suppress_health_check=_SLOW)
settings.register_profile(
    "ci", deadline=None, max_examples=100, derandomize=True, suppress_health_check=_SLOW
)
# On each Python; the one that runs the e2e tests looks longer.
settings.register_profile(
    "quick", deadline=None, max_examples=8, derandomize=True, suppress_health_check=_SLOW
)
settings.register_profile("long", deadline=None, max_examples=3000, suppress_health_check=_SLOW)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "dev"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whole crawls first, so that no worker is left with one when the others have finished."""
    items.sort(key=lambda item: item.get_closest_marker("e2e") is None)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of crawls and logs beside the repository; $DUST_SHARED names another parent."""
    beside = Path(__file__).resolve().parents[2] / "shared"
    data = Path(os.environ.get("DUST_SHARED", beside)) / "data"
    if not data.is_dir():
        pytest.skip(
            f"the crawls to compare on are not here: {data} is no folder; set DUST_SHARED to its parent"
        )
    return data
