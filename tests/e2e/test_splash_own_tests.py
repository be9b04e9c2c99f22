"""scrapy-splash's own tests with our stand-in: a folder of its source release, which `.ci/run` unpacks, is `DUST_SPLASH_TESTS`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.waiting import PATIENCE

FOLDER = os.environ.get("DUST_SPLASH_TESTS")
#: What their helpers import of pytest-twisted, which is no dependency of theirs or ours, Twisted has under the same name.
RUN = """
import sys
import scrapy_dust.splash, pytest
from twisted.internet import defer
sys.modules["pytest_twisted"] = defer
sys.exit(pytest.main(sys.argv[1:]))
"""
#: What fails because Scrapy is another than it was, before anything of ours is asked:
#: it makes a URL of its own of http://example.com?a=1, leaves #! as it is, and asks its crawler for the spider.
OF_SCRAPY = {
    "test_splash_request",
    "test_splash_form_request",
    *(f"test_duplicates[{number}-dupe_indices{number}]" for number in (12, 13, 14, 15)),
    "test_magic_response_caching",
}

pytestmark = pytest.mark.e2e


@pytest.mark.skipif(
    not FOLDER, reason="DUST_SPLASH_TESTS does not name the source release of scrapy-splash 0.11.1"
)
def test_its_own_tests_pass_but_for_what_scrapy_changed(tmp_path):
    # Without our part it cannot be imported.
    pytest.importorskip("scrapy_dust.splash", reason="scrapy-splash is not installed", exc_type=ImportError)
    report = tmp_path / "report.xml"
    # Their integration tests need a Splash; ours are test_rendering.py.
    options = (
        "--ignore",
        "tests/test_integration.py",
        "-W",
        "ignore",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:twisted",
    )
    # Options for our run of pytest, and what pytest-xdist tells its workers, are not for this one.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(
        [sys.executable, "-c", RUN, "-q", f"--junitxml={report}", *options, "tests"],
        cwd=Path(FOLDER),
        env=environment,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PATIENCE,
    )
    assert report.exists(), done.stdout
    cases = list(ElementTree.parse(report).iter("testcase"))
    failed = {
        case.get("name")
        for case in cases
        if case.find("failure") is not None or case.find("error") is not None
    }
    assert len(cases) == 56, done.stdout
    assert failed == OF_SCRAPY, done.stdout
