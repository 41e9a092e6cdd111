"""config.toml: what it may say, and how a fault in it is told."""

import subprocess
import sys
from pathlib import Path

import pytest

from tui.config import Config, ConfigError, config_path, line_of, load_config, unknown_setting
from tui.i18n import translator

CONTRACT_EXAMPLE = """\
lang = "zh"
[default]
provider = "creek"
model = "minnow-2"
[session]
compression = "zstd"
[providers.creek]
kind = "deepseek"
[[providers.creek.models]]
id = "minnow-2"
[tools]
file = "tools.json"
[mcp.loom]
command = ["python3", "server.py"]
env = {}
[approval]
preset = "workspace-write"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


def fault(file: Path, text: str, lang: str = "en") -> str:
    """The sentence that a settings text is refused with, without the folder of the file."""
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as raised:
        load_config(file, {})
    return raised.value.sentence(translator(lang)).replace(f"{file.parent}/", "")


def test_without_a_file_every_setting_has_its_default() -> None:
    config = load_config(None, {})
    assert config == Config()
    assert (config.lang, config.ui.theme, config.keymap()) == (None, "dark", {})


def test_every_section_of_the_contract_is_accepted(file: Path) -> None:
    file.write_text(CONTRACT_EXAMPLE, encoding="utf-8")
    config = load_config(file, {})
    assert config.lang == "zh"
    assert config.default["model"] == "minnow-2"


def test_theme_and_keys_are_read(file: Path) -> None:
    file.write_text(
        '[ui]\ntheme = "light"\n[keys]\nquit = "q"\nfind = ["slash", "ctrl+f"]\n', encoding="utf-8"
    )
    config = load_config(file, {})
    assert config.ui.theme == "light"
    assert config.keymap() == {"quit": ("q",), "find": ("slash", "ctrl+f")}


def test_a_byte_order_mark_does_no_harm(file: Path) -> None:
    file.write_bytes(b'\xef\xbb\xbflang = "zh"\n')
    assert load_config(file, {}).lang == "zh"


def test_the_named_file_comes_before_the_environment_and_that_before_the_platform(tmp_path: Path) -> None:
    named, from_environment = tmp_path / "a.toml", tmp_path / "b.toml"
    named.write_text('lang = "zh"', encoding="utf-8")
    from_environment.write_text('lang = "en"', encoding="utf-8")
    environ = {"DSH_TUI_CONFIG": str(from_environment)}
    assert load_config(named, environ).lang == "zh"
    assert load_config(None, environ).lang == "en"
    assert config_path({}).parts[-2:] == ("dsh-tui", "config.toml")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('\n# note\nlangs = "zh"', "config.toml, line 3: `langs` is not a setting; did you mean `lang`?"),
        ('[ui]\nthem = "dark"', "config.toml, line 2: `ui.them` is not a setting; did you mean `ui.theme`?"),
        ("[moss]\na = 1", "config.toml, line 1: `moss` is not a setting"),
        ("lang = 'zh'\nmoss = [\n 1,\n]", "config.toml, line 2: `moss` is not a setting"),
        ('lang = "fr"', 'config.toml, line 1: `lang` must be "en" or "zh"'),
        ('[ui]\n\ntheme = "blue"', 'config.toml, line 3: `ui.theme` must be "dark" or "light"'),
        ('ui = {theme = "blue"}', 'config.toml, line 1: `ui.theme` must be "dark" or "light"'),
        ("[keys]\nquit = 3", "config.toml, line 2: `keys.quit` must be a key or a list of keys"),
        ("[keys]\na='b'\nstr = [1]", "config.toml, line 3: `keys.str` must be a key or a list of keys"),
        ("keys = 3", "config.toml, line 1: `keys` must be a table"),
        ("default = 3", "config.toml, line 1: `default` must be a table"),
    ],
)
def test_a_fault_is_told_with_its_line_and_key(file: Path, text: str, sentence: str) -> None:
    assert fault(file, text) == sentence


def test_text_that_is_no_toml_is_told_with_its_line(file: Path) -> None:
    assert fault(file, 'lang = "zh"\nui = \n').startswith("config.toml, line 2: not valid TOML: ")
    assert fault(file, 'lang = "zh"\nui =').startswith("config.toml, line 2: not valid TOML: ")


def test_a_fault_is_told_in_chinese_too(file: Path) -> None:
    assert fault(file, "langs = 1", "zh") == "config.toml，第 1 行：`langs` 不是设置项，是否想写 `lang`？"


def test_a_file_that_was_named_must_be_there(tmp_path: Path) -> None:
    missing = tmp_path / "none.toml"
    for named, environ in ((missing, {}), (None, {"DSH_TUI_CONFIG": str(missing)})):
        with pytest.raises(ConfigError, match="there is no such file"):
            load_config(named, environ)


def test_a_folder_and_bytes_that_are_no_text_are_refused(tmp_path: Path, file: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load_config(tmp_path, {})
    file.write_bytes(b"lang = '\xff'")
    with pytest.raises(ConfigError, match="not UTF-8 text"):
        load_config(file, {})


def test_values_nested_beyond_measure_are_refused(file: Path) -> None:
    assert fault(file, "lang = " + "[" * 100_000).startswith("config.toml")


@pytest.mark.parametrize(
    ("text", "key", "line"),
    [
        ("a = 1\nb = 2\n", ("b",), 2),
        ("# b\na = 1\n\nb = 2\n", ("b",), 4),
        ("[t]\nx = 1\n[u]\nx = 2\n", ("u", "x"), 4),
        ("t.x = 1\nt.y = 2\n", ("t", "y"), 2),
        ('a = """\nb = 1\n"""\nb = 2\n', ("b",), 4),
        ('"\\u0062" = 1\n', ("b",), 1),
        ("a = 1\n", ("b",), None),
    ],
)
def test_a_key_is_found_on_its_line(text: str, key: tuple[str, ...], line: int | None) -> None:
    assert line_of(text, key) == line


def test_an_unknown_action_is_told_with_the_nearest_one(file: Path) -> None:
    error = unknown_setting(file, "[keys]\nqiut = 'q'\n", ("keys", "qiut"), ["quit", "find"])
    assert str(error).endswith("line 2: `keys.qiut` is not a setting; did you mean `keys.quit`?")


def test_pydantic_is_imported_only_for_a_file() -> None:
    program = "import sys, tui.config; tui.config.load_config(None, {}); sys.exit('pydantic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
