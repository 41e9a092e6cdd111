"""Files among the caches of the platform (CONTRACT, "Files and environment"), replaced as a whole."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def cache_folder() -> Path:
    """Return our folder among the caches of the platform; it need not exist."""
    import platformdirs

    return platformdirs.user_cache_path("dsh-tui", appauthor=False)


def write_cache(path: Path, content: bytes) -> None:
    """Put a file that only its owner can read in the place of another, which stays if this raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
