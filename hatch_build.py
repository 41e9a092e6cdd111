"""Build hook: compiles the message catalogues and puts them, with the assets, inside the wheel.

In a checkout the sources lie in `locales/` and `assets/`; in a wheel they lie in `tui/locales/` and
`tui/assets/` (`tui/resources.py` finds both). The compiled `.mo` files are written beside their `.po` and are
not committed, so an editable install works from the checkout alone.
"""

import os
from pathlib import Path
from typing import Any

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from hatchling.builders.hooks.plugin.interface import BuildHookInterface


def compile_catalogue(source: Path) -> Path:
    """Write `messages.mo` beside `messages.po` and return its path."""
    with source.open("rb") as text:
        catalogue = read_po(text, locale=source.parts[-3])
    target = source.with_suffix(".mo")
    # Replaced whole, because a running program may be reading it.
    partial = target.with_suffix(f".{os.getpid()}.mo")
    with partial.open("wb") as binary:
        write_mo(binary, catalogue)
    return partial.replace(target)


class ResourcesHook(BuildHookInterface[Any]):
    """Brings what is no Python into the wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile every catalogue; `version` is "standard" or "editable"."""
        root = Path(self.root)
        sources = sorted(root.glob("locales/*/LC_MESSAGES/messages.po"))
        compiled = [compile_catalogue(source) for source in sources]
        if version == "editable":
            return
        include: dict[str, str] = build_data["force_include"]
        for catalogue in compiled:
            include[str(catalogue)] = f"tui/{catalogue.relative_to(root).as_posix()}"
        assets = root / "assets"
        if assets.is_dir():
            include[str(assets)] = "tui/assets"
