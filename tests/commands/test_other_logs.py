"""`scrapy dustmine` on logs that a web server wrote."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.once


def dustmine(log: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "scrapy", "dustmine", str(log), *options]
    return subprocess.run(command, cwd=log.parent, capture_output=True, text=True, check=False)


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "access.log"
    asked = [f"/{page}{end}" for page in range(20) for end in ("/", "/index.html")]
    path.write_text(
        "".join(f"GET {url} 200 {1000 + int(url.split('/')[1])}\n" for url in asked)
        + "POST / 200 3\ngarbage\n"
    )
    return path


def test_a_format_and_a_host_are_all_it_needs(log):
    options = ["--log-format", "$request_method $request_uri $status $body_bytes_sent"]
    done = dustmine(log, *options, "--base-url", "https://a.test", "--phase", "likely", "--json")
    assert done.returncode == 0
    rules = [json.loads(line) for line in done.stdout.splitlines()]
    assert {"alpha": "/index.html", "beta": "/", "start": False, "end": True, "support": 20} in rules
    assert "not read: " in done.stderr
    assert "passed over: 1 lines that show no page" in done.stderr
    done = dustmine(log, *options, "--phase", "likely")
    assert (done.returncode, done.stdout) == (1, "")
    assert "its requests name no host. Say which site it is of with --base-url https://HOST." in done.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--base-url", "a.test"], "--base-url must be like https://www.example.org, got 'a.test'."),
        (["--base-url", "https://a.test:99999"], "--base-url must be like https://www.example.org, got"),
        (["--base-url", "https://[::1"], "--base-url must be like https://www.example.org, got"),
        (["--site", ""], "--site names no host."),
        (["--phase", "kept", "--report", "found.html"], "--report needs tested rules, and --phase kept tests none."),
        (["--phase", "kept", "--validate-on", "access.log"], "--validate-on needs tested rules"),
        (["--no-validate", "--budget", "5"], "--budget limits fetches, and --no-validate fetches nothing."),
        (["--report", "dust-rules.json"], "--report dust-rules.json would overwrite the rule book. Name another file."),
        (["--log-format", "%h %t"], "the log format '%h %t' has no request in it."),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_wrong_usage(log, options, said):
    done = dustmine(log, *options)
    assert done.returncode == 2
    assert said in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--rules", "nowhere/book.json"], "cannot be written, the folder "),
        (["--rules", "."], "cannot be read (Is a directory)."),
        (["--rules", "memory://book.json"], "memory://book.json: only files can be written, not URIs."),
        (
            ["--report", "nowhere/found.html"],
            "nowhere/found.html: the report cannot be written (No such file",
        ),
        (["--report", "."], ".: the report cannot be written (Is a directory)."),
    ],
)
def test_what_cannot_be_written_at_the_end_is_said_before_anything_is_read(log, options, said):
    log.unlink()
    done = dustmine(log, *options, "--no-validate")
    assert (done.returncode, done.stdout) == (1, "")
    assert said in done.stderr
    assert [path.name for path in log.parent.iterdir()] == []
