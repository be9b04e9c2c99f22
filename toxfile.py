"""Lets tox find every Python that pyenv has installed, not only the one that is switched on.

pyenv's shim of a version that is off answers "command not found", so tox would skip a Python that is there.
"""

import os
from pathlib import Path

_versions = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv", "versions")
# At the end: whatever a user's PATH finds first is still found first.
os.environ["PATH"] = os.pathsep.join([os.environ["PATH"], *map(str, sorted(_versions.glob("3.*/bin")))])
