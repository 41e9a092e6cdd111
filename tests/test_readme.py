"""The README promises what is there."""

from __future__ import annotations

from pathlib import Path

from tui.app.actions import keys_table
from tui.i18n import translator

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")


def test_the_key_table_is_the_registrys() -> None:
    assert keys_table(translator("en")) in README


def test_every_picture_and_link_of_the_readme_is_in_the_tree() -> None:
    import re

    targets = re.findall(r"\]\(([^)]+)\)", README)
    assert targets
    for target in targets:
        assert (ROOT / target).is_file(), target


def test_every_make_target_that_the_readme_names_exists() -> None:
    import re

    makefile = (ROOT / "Makefile").read_text("utf-8")
    for target in re.findall(r"make ([a-z]+)", README):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
