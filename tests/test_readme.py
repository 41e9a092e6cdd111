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


def test_the_providers_of_the_readme_are_ones_that_can_be_asked(tmp_path: Path) -> None:
    from tui.config import load_config
    from tui.llm.providers import configured_providers

    config = tmp_path / "config.toml"
    config.write_text(block_of("toml", "[providers.creek]"), encoding="utf-8")
    providers = configured_providers(load_config(config, {}), config, {"CREEK_KEY": "k"})
    assert tuple(providers.ids) == ("creek", "brook")
    adapters = {name: providers.get(name) for name in providers.ids}
    models = {name: adapter.models()[0] for name, adapter in adapters.items() if adapter is not None}
    assert {name: (model.id, model.tool_update) for name, model in models.items()} == {
        "creek": ("minnow-2", "addition-only"),
        "brook": ("pebble-1", None),
    }


def test_the_tool_of_the_readme_counts_words(tmp_path: Path) -> None:
    import subprocess

    from tui.tools.command_file import parse_tool_file

    (tool,) = parse_tool_file(tmp_path / "tools.json", block_of("json", '"tools"').encode())
    (tmp_path / "notes.txt").write_text("one two three", encoding="utf-8")
    ran = subprocess.run(
        tool.command, cwd=tmp_path, input='{"file": "notes.txt"}', capture_output=True, text=True, check=True
    )
    assert ran.stdout == "3\n"


def test_the_keymap_of_the_readme_is_one_that_can_be_used(tmp_path: Path) -> None:
    from tui.app.actions import effective_keys
    from tui.config import load_config

    config = tmp_path / "config.toml"
    config.write_text(block_of("toml", "[keys]"), encoding="utf-8")
    assert effective_keys(load_config(config, {}).keymap())["send"] == ("ctrl+o",)


def test_every_scene_is_named_in_the_readme() -> None:
    from tui.cli.scenes import scene_names

    assert [name for name in scene_names() if name not in README] == []


def block_of(language: str, holding: str) -> str:
    """The one code block of a language that holds a text."""
    import re

    (found,) = [
        block for block in re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL) if holding in block
    ]
    return found
