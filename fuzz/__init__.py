"""Whatever bytes a stranger hands us: what is done with them, and what must hold afterwards. Not part of the package."""
