"""Prints what pytest counted in each tox env, from its JUnit files, and the sum; 1 where no test ran."""

import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree as ET


def counts(path: Path) -> Counter[str]:
    suites = ET.parse(path).getroot().iter("testsuite")
    found: Counter[str] = Counter()
    for suite in suites:
        bad = {name: int(suite.get(name, 0)) for name in ("failures", "errors", "skipped")}
        found["passed"] += int(suite.get("tests", 0)) - sum(bad.values())
        found["failed"] += bad["failures"]
        found["errors"] += bad["errors"]
        found["skipped"] += bad["skipped"]
    return found


def sentence(found: Counter[str]) -> str:
    return ", ".join(f"{found[name]} {name}" for name in ("passed", "failed", "errors", "skipped"))


total: Counter[str] = Counter()
for path in map(Path, sys.argv[1:]):
    found = counts(path)
    total += found
    print(f"{path.stem}: {sentence(found)}")
print(f"===== {sentence(total)} =====")
sys.exit(0 if total["passed"] else 1)
