"""Where the files lie that ship with the program and are no Python: catalogues and assets.

In a wheel they are inside the package (`tui/locales`, `tui/assets`), in a checkout beside it.
"""

from pathlib import Path

_PACKAGE = Path(__file__).parent


def shipped(folder: str) -> Path:
    """Return the folder `locales` or `assets` of this installation; it need not exist."""
    inside = _PACKAGE / folder
    return inside if inside.is_dir() else _PACKAGE.parent / folder
