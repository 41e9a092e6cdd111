"""`dsh-tui chat --from`: a fresh session from a summary, from the file to the conversation."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tui.app.conversation import Conversation
from tui.cli import main
from tui.cli.fresh_start import starter, summary_in
from tui.cli.run import Refused, Run
from tui.cli.talking import open_conversation
from tui.config import load_config
from tui.i18n import translator
from tui.loop.fresh_start import FreshStart
from tui.session.store import find_homes
from tui.settings import Settings

STAGE = '[default]\nprovider = "stage"\nmodel = "scripted-in-history"\n[providers.stage]\nkind = "scripted"\n'
DRAFT = "# Resume: Moss\n\n- **Original**: session-ab12, up to event 83; it stays as it is\n\nGo on.\n"


@pytest.fixture
def prepared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Run]:
    """A run with a settings file of this text."""
    monkeypatch.setenv("DSH_TUI_HOME", str(tmp_path / "own"))
    monkeypatch.setenv("DSH_HOME", str(tmp_path / "dsh"))
    monkeypatch.delenv("DEEPSEEK_API_KEY", raising=False)
    monkeypatch.chdir(tmp_path)

    def run(config: str) -> Run:
        path = tmp_path / "config.toml"
        path.write_text(config, encoding="utf-8")
        settings = Settings(
            lang="en",
            theme="dark",
            ascii=False,
            no_color=True,
            keys={},
            homes=find_homes(os.environ),
        )
        loaded = load_config(path, os.environ)
        return Run(
            settings=settings,
            tr=translator("en"),
            plain=False,
            options={},
            config=loaded,
            config_path=path,
        )

    return run


async def test_a_start_gives_a_session_of_our_own_that_owes_a_check_also_when_it_is_resumed(
    prepared: Callable[[str], Run], tmp_path: Path
) -> None:
    run = prepared(STAGE)
    (tmp_path / "draft.md").write_text(DRAFT, encoding="utf-8")
    fresh = summary_in(run, "draft.md")
    assert (fresh.summary, fresh.session, fresh.seq) == (DRAFT, "session-ab12", 83)
    begun = await starter(run)(fresh)
    assert isinstance(begun, Conversation)
    assert begun.opening == DRAFT and begun.first_check is not None
    assert begun.writer.path.is_relative_to(tmp_path / "own")
    await begun.close()
    resumed = await open_conversation(run, resume=begun.writer.id)
    assert resumed.opening == "" and resumed.first_check is not None
    await resumed.close()


async def test_without_a_provider_there_is_one_sentence_and_no_session(
    prepared: Callable[[str], Run], tmp_path: Path
) -> None:
    told = await starter(prepared(""))(FreshStart(summary="Moss."))
    assert isinstance(told, str)
    assert told.startswith("No provider is configured") and "\n" not in told
    assert not (tmp_path / "own").exists()


async def test_the_folder_of_the_original_is_worked_in_where_it_still_is(
    prepared: Callable[[str], Run], tmp_path: Path
) -> None:
    (tmp_path / "bed").mkdir()
    run = prepared(STAGE)
    for cwd, expected in ((str(tmp_path / "bed"), tmp_path / "bed"), ("/no/such/folder", tmp_path)):
        begun = await starter(run)(FreshStart(summary="Moss.", cwd=cwd))
        assert isinstance(begun, Conversation)
        assert begun.writer.header.cwd == str(expected.resolve())
        await begun.close()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "No such file"),
        (b" \n", "is empty"),
        (b"\xff\xfe", "no text in UTF-8"),
        (b"x" * (1024 * 1024 + 1), "too long"),
    ],
)
def test_what_is_no_summary_is_refused_in_one_sentence(
    prepared: Callable[[str], Run], tmp_path: Path, content: bytes | None, said: str
) -> None:
    if content is not None:
        (tmp_path / "draft.md").write_bytes(content)
    with pytest.raises(Refused) as refused:
        summary_in(prepared(STAGE), "draft.md")
    assert said in str(refused.value) and "draft.md" in str(refused.value)


def test_a_session_is_not_resumed_and_started_from_a_summary_at_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tui.cli.run.is_terminal", lambda stream: True)
    assert main(["--lang", "en", "chat", "--from", "draft.md", "--resume", "session-1"]) == 64
    assert capsys.readouterr().err == "A session is resumed or started from a summary, not both.\n"
