"""What a dsh home tells of profiles and plugins: only what its files say, never a secret, never a wait."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tui.nodes.doctor_home import Endpoint, Home, Plugin, Profile, read_home, shown_address
from tui.nodes.masking import MASK


@pytest.fixture
def home(tmp_path: Path) -> Path:
    log = log_of(tmp_path)
    log.parent.mkdir(parents=True)
    log.write_bytes(b"")
    return tmp_path


def log_of(home: Path) -> Path:
    return home / "sessions" / "--srv-moss--" / "session-1" / "session.v4.jsonl"


def profile(
    home: Path,
    name: str,
    *,
    bundles: Any = (),
    dependencies: Any = None,
    installed: dict[str, Any] | None = None,
) -> Path:
    """A profile's folder as dsh and pnpm leave it."""
    folder = home / "profiles" / name
    folder.mkdir(parents=True)
    manifest = {
        "name": f"dsh-profile-{name}",
        "private": True,
        "dependencies": {} if dependencies is None else dependencies,
        "dsh": {"profile": {"bundles": bundles if isinstance(bundles, str) else list(bundles)}},
    }
    (folder / "package.json").write_text(json.dumps(manifest))
    for package, version in (installed or {}).items():
        place = folder / "node_modules" / package
        place.mkdir(parents=True)
        (place / "package.json").write_text(json.dumps({"name": package, "version": version}))
    return folder


def read(home: Path) -> Home:
    found = read_home(log_of(home))
    assert found is not None
    return found


def test_plugins_have_the_version_that_is_installed_and_the_range_that_is_wanted(home: Path) -> None:
    profile(
        home,
        "headless",
        bundles=["@deepseek-ai/dsh-base", "dsh-plugin-tide"],
        dependencies={"dsh-plugin-tide": "^1.4.0", "@moss/dsh-bed": "2.0.0", "gone": "~3.1"},
        installed={"dsh-plugin-tide": "1.4.2", "@moss/dsh-bed": "2.0.0-rc.1"},
    )
    assert read(home).profiles == (
        Profile(
            name="headless",
            bundles=("@deepseek-ai/dsh-base", "dsh-plugin-tide"),
            plugins=(
                Plugin(name="@moss/dsh-bed", version="2.0.0-rc.1", wanted="2.0.0"),
                Plugin(name="dsh-plugin-tide", version="1.4.2", wanted="^1.4.0"),
                Plugin(name="gone", version="", wanted="~3.1"),
            ),
        ),
    )


def test_profiles_stand_in_order_and_one_without_a_manifest_says_so(home: Path) -> None:
    profile(home, "web", bundles=["@deepseek-ai/dsh-web"])
    (home / "profiles" / "blank").mkdir()
    assert [(entry.name, entry.has_manifest) for entry in read(home).profiles] == [
        ("blank", False),
        ("web", True),
    ]


def test_a_log_that_lies_in_no_home_has_none(tmp_path: Path) -> None:
    assert read_home(tmp_path / "session.v4.jsonl") is None
    assert read_home(tmp_path / "logs" / "a" / "b" / "session.v4.jsonl") is None


def test_a_home_without_profiles_tells_nothing(home: Path) -> None:
    assert read(home) == Home()


@pytest.mark.parametrize(
    ("wanted", "shown"),
    [
        ("file:/home/ana/plugins/tide", "file:"),
        ("git+https://token-of-ana@example.org/tide.git", "git+https:"),
        ("workspace:*", "workspace:"),
        (">=1.2 <2 || 3.x", ">=1.2 <2 || 3.x"),
        (">=1.2 <2", ">=1.2 <2"),
        ("../tide", ""),
        ({"a": 1}, ""),
    ],
)
def test_of_a_source_that_may_hold_a_path_or_a_key_only_the_kind_is_told(
    home: Path, wanted: Any, shown: str
) -> None:
    profile(home, "web", dependencies={"tide": wanted})
    assert read(home).profiles[0].plugins[0].wanted == shown


@pytest.mark.parametrize("name", ["../../etc", "/etc", "a/../b", "..", "a//b", "\x1b[2J", "@a/b/c", ""])
def test_no_name_leads_out_of_the_profile(home: Path, name: str) -> None:
    profile(home, "web", bundles=[name], dependencies={name: "1.0.0"})
    (entry,) = read(home).profiles
    assert (entry.bundles, entry.plugins) == ((), ())


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '"x"', "[" * 100_000, "\xff\xfe", "{" + " " * 300_000]
)
def test_a_manifest_that_cannot_be_read_is_not_told(home: Path, text: str) -> None:
    folder = home / "profiles" / "web"
    folder.mkdir(parents=True)
    (folder / "package.json").write_text(text, encoding="latin-1")
    assert read(home).profiles == (Profile(name="web", has_manifest=False),)


@pytest.mark.parametrize("value", [None, 3, "x", [1, {"a": 2}], {"a": "b"}])
def test_misshapen_members_read_as_not_told(home: Path, value: Any) -> None:
    folder = home / "profiles" / "web"
    folder.mkdir(parents=True)
    for members in ({"dsh": value}, {"dsh": {"profile": value}}, {"dsh": {"profile": {"bundles": value}}}):
        (folder / "package.json").write_text(json.dumps(members))
        assert read(home).profiles[0].bundles == ()


@pytest.mark.parametrize("version", [None, 7, "", "1.0\x1b[2J", "v" * 200, "1.0.0 && rm"])
def test_a_version_that_is_none_is_not_told(home: Path, version: Any) -> None:
    profile(home, "web", dependencies={"tide": "1.0.0"}, installed={"tide": version})
    assert read(home).profiles[0].plugins == (Plugin(name="tide", version="", wanted="1.0.0"),)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_or_a_folder_in_place_of_a_file_is_passed_over(home: Path) -> None:
    folder = home / "profiles" / "web"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "package.json")
    (folder / "cordis.patch.yml").mkdir()
    assert read(home).profiles == (Profile(name="web", has_manifest=False),)


def test_many_profiles_and_plugins_are_bounded(home: Path) -> None:
    for number in range(40):
        profile(home, f"p{number:02}", dependencies={f"plugin-{at}": "1.0.0" for at in range(200)})
    found = read(home)
    assert len(found.profiles) < 40
    assert all(len(entry.plugins) < 100 for entry in found.profiles)


def test_nothing_but_the_named_files_is_opened(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    profile(home, "web", dependencies={"tide": "1.0.0"}, installed={"tide": "1.0.0"})
    for secret in (".credentials.yaml", ".env", ".anonymous-user-id"):
        (home / secret).write_text("baseURL: http://never")
        (home / "profiles" / "web" / secret).write_text("baseURL: http://never")
    opened: list[str] = []
    real = os.open

    def watched(path: Any, *rest: Any, **facts: Any) -> int:
        opened.append(Path(path).name)
        return real(path, *rest, **facts)

    monkeypatch.setattr(os, "open", watched)
    read(home)
    assert set(opened) == {"package.json", "cordis.patch.yml"}


# -- endpoints


PATCH = """\
# my layer
- id: llm-deepseek
  config:
    models:
      - id: minnow-2
        contextWindow: 1000
    baseURL: https://ana:made-up-word@api.example.org/anthropic?key=made-up  # the gateway
- insert:
    - id: llm-other
      config:
        baseURL: "http://127.0.0.1:8080/v1"
- id: computed
  config:
    baseURL: !!js process.env.SOMETHING
"""


def test_the_addresses_of_patch_layers_are_told_without_credentials_and_query(home: Path) -> None:
    (home / "cordis.patch.yml").write_text(PATCH)
    folder = profile(home, "web")
    (folder / "cordis.patch.yml").write_text("- id: llm-web\n  config: \n    baseURL: 'https://b.example'\n")
    assert read(home).endpoints == (
        Endpoint(
            entry="llm-deepseek",
            url=f"https://{MASK}@api.example.org/anthropic?{MASK}",
            file="cordis.patch.yml",
        ),
        Endpoint(entry="llm-other", url="http://127.0.0.1:8080/v1", file="cordis.patch.yml"),
        Endpoint(entry="llm-web", url="https://b.example", file="profiles/web/cordis.patch.yml"),
    )


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://127.0.0.1:9/v1", "http://127.0.0.1:9/v1"),
        ("https://a.example/x?token=1#y", f"https://a.example/x?{MASK}"),
        ("https://a.example/#token", f"https://a.example/?{MASK}"),
        ("https://ana@a.example/x", f"https://{MASK}@a.example/x"),
        ("https://ana:p@ss@a.example/x", f"https://{MASK}@a.example/x"),
        ("https://ana:p?s#s/@a.example/x", f"https://{MASK}@a.example/x"),
        ("https://" + "a" * 500 + "@a.example", MASK),
        ("", ""),
    ],
)
def test_an_address_is_shown_without_what_may_be_a_secret(address: str, shown: str) -> None:
    assert shown_address(address) == shown
