"""Versions and route of a session: what its log and home tell, and what they do not."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path

import pytest

from tests.support.exports import logs_below
from tests.support.log_builder import MODEL, PROVIDER, log
from tests.support.nodes import RECORDINGS, reading_of
from tui.blocks.doctor_layout import doctor_lines, versions_copy
from tui.blocks.layout import Layout
from tui.blocks.text import plain
from tui.export.doctor_json import versions_member
from tui.i18n import translator
from tui.nodes import doctor_versions
from tui.nodes.doctor import Examination, examine
from tui.nodes.doctor_versions import Route
from tui.nodes.masking import MASK
from tui.nodes.reading import Reading
from tui.session.own_records import TOOL_UPDATE_DOWNGRADE
from tui.session.store import Homes

EN, ZH = translator("en"), translator("zh")


def in_a_home(folder: Path, name: str = "rejected-update") -> Examination:
    """A recording as it lies in a home with one profile."""
    place = folder / "sessions" / "--srv-demo-project--" / "session-1"
    place.mkdir(parents=True)
    shutil.copy(RECORDINGS / name / "session.v4.jsonl", place)
    web = folder / "profiles" / "web"
    (web / "node_modules" / "dsh-plugin-tide").mkdir(parents=True)
    (web / "node_modules" / "dsh-plugin-tide" / "package.json").write_text('{"version": "1.4.2"}')
    manifest = {
        "dependencies": {"dsh-plugin-tide": "^1.4.0"},
        "dsh": {"profile": {"bundles": ["@deepseek-ai/dsh-web"]}},
    }
    (web / "package.json").write_text(json.dumps(manifest))
    return examine(Reading.open(place / "session.v4.jsonl").read_all())


def test_a_recording_tells_route_and_adapter_and_neither_dsh_nor_profile() -> None:
    versions = examine(reading_of("rejected-update")).versions
    assert versions.route == Route(provider="deepseek-official", model="deepseek-flash", effort="high")
    assert (versions.adapter, versions.uploads) == ("deepseek-messages 1", 4)
    assert versions.servers == ("saltmarsh",)
    assert versions.not_told == ("dsh", "profile", "plugins", "endpoint")


def test_the_only_profile_of_a_home_is_told_with_its_plugins(tmp_path: Path) -> None:
    found = in_a_home(tmp_path)
    assert found.versions.not_told == ("dsh", "endpoint")
    told = versions_copy(found, EN)
    assert "profile: web [@deepseek-ai/dsh-web] (the only one in the home)" in told
    assert "plugins: dsh-plugin-tide 1.4.2" in told
    assert "dsh: not in log or home" in told


def test_of_two_profiles_it_is_not_told_which_wrote_the_session(tmp_path: Path) -> None:
    (tmp_path / "profiles" / "acp").mkdir(parents=True)
    found = in_a_home(tmp_path)
    assert "profile" in found.versions.not_told
    assert "not known which; the home has acp" in versions_copy(found, EN)


def test_the_block_names_the_last_failure_with_its_request(tmp_path: Path) -> None:
    told = versions_copy(in_a_home(tmp_path), EN)
    assert "last failure: event 70, HTTP 400, INVALID_REQUEST, request req_demo_0008\n" in told
    assert "session: session-" in told and "log format 4" in told


def test_the_advice_says_what_is_still_to_be_added(tmp_path: Path) -> None:
    rows = doctor_lines(in_a_home(tmp_path), Layout(width=400, tr=EN, expanded=True, full=True))
    assert any(
        "Add what neither log nor home says: the version of dsh, the route's endpoint." in plain(row)
        for row in rows
    )


def test_a_record_of_ours_tells_the_endpoint_of_its_route_alone(tmp_path: Path) -> None:
    built = log().turn().user("go").tools("peek").answer("fine")
    record = {
        "provider": PROVIDER,
        "model": MODEL,
        "endpoint": "https://ana:made-up@creek.example/v1?x=1",
        "from": "addition-only",
        "to": "none",
    }
    built.event(TOOL_UPDATE_DOWNGRADE, record, ignorable=True).end()
    found = examine(built.read(tmp_path))
    assert found.versions.route is not None
    assert found.versions.route.endpoint == f"https://{MASK}@creek.example/v1?{MASK}"
    assert "made-up" not in versions_copy(found, EN) + json.dumps(versions_member(found))
    assert found.versions.wrote_here


def test_plugins_that_left_records_are_named(tmp_path: Path) -> None:
    built = log().turn().user("go").tools("peek").answer("fine")
    built.event("plugin:tide/level", {"cm": 3}, ignorable=True)
    built.event("plugin:tide/level", {"cm": 4}, ignorable=True).end()
    found = examine(built.read(tmp_path))
    assert found.versions.plugin_records == ("tide",)
    assert "plugins: records in the log by tide" in versions_copy(found, EN)


def test_a_session_without_a_request_says_so(tmp_path: Path) -> None:
    found = examine(log().event("permission/preset", {"preset": "read-only"}).read(tmp_path))
    told = versions_copy(found, EN)
    assert "route: no request was made" in told
    assert "permissions: preset read-only" in told


def test_keys_in_a_provider_answer_are_blotted_out(tmp_path: Path) -> None:
    key = "sk-" + "a1B2" * 8
    failure = {"code": "AUTH", "status": 401, "message": f"incorrect key {key}", "requestId": "r-1"}
    found = examine(log().turn().user("go").tools("peek").end("error", error=failure).read(tmp_path))
    shown = "\n".join(plain(row) for row in doctor_lines(found, Layout(120, EN, expanded=True, full=True)))
    assert MASK in shown and key not in shown
    assert len(found.chain[0].attempts) == 1


@pytest.mark.parametrize("tr", [EN, ZH])
@pytest.mark.parametrize("width", [40, 80, 120])
def test_the_block_fits_every_width(shared: Path, tr: object, width: int) -> None:
    for path in logs_below(shared / "bugs" / "cases" / "B16-control-text" / "home"):
        found = examine(Reading.open(path).read_all())
        rows = doctor_lines(found, Layout(width=width, tr=tr, expanded=True, full=True))  # type: ignore[arg-type]
        assert all(row.cells <= width for row in rows)


def test_what_the_settings_file_says_of_the_route_is_told_apart(tmp_path: Path) -> None:
    from tui.llm.credentials import Credential
    from tui.llm.deepseek import DeepSeekAdapter, DeepSeekConnection
    from tui.llm.providers import Providers
    from tui.llm.route import deepseek_model
    from tui.llm.route_book import RouteBook

    connection = DeepSeekConnection(
        provider=PROVIDER,
        base_url="http://127.0.0.1:9/anthropic",
        credential=Credential(env="CREEK_KEY", environ={}),
        models={MODEL: deepseek_model(MODEL)},
    )
    book = RouteBook(Providers([DeepSeekAdapter(connection)]))
    reading = log().turn().user("go").tools("peek").answer("fine").end().read(tmp_path)
    found = examine(reading, book)
    assert "http://127.0.0.1:9/" in versions_copy(found, EN)
    assert "(by the settings file here)" in versions_copy(found, EN)
    assert "endpoint" not in found.versions.not_told
    assert "endpoint" in examine(reading).versions.not_told


def test_a_session_is_named_as_a_command_line_finds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "own"
    homes = Homes(own, tmp_path / "dsh")
    place = own / "sessions" / "--srv--" / "session-a"
    place.mkdir(parents=True)
    built = log().turn().user("go").tools("peek").answer("fine").end()
    stored = examine(built.read(place), homes=homes).versions
    assert stored.argument == stored.session
    assert stored.is_own and stored.not_told == ("endpoint",)
    elsewhere = tmp_path / "some logs"
    elsewhere.mkdir()
    reading = built.read(elsewhere)
    monkeypatch.chdir(elsewhere)
    loose = examine(reading, homes=homes).versions
    assert (elsewhere / shlex.split(loose.argument)[0]) == reading.log.path.parent
    monkeypatch.chdir(own)
    monkeypatch.setattr(doctor_versions, "_LONGEST_PATH", 20)
    assert examine(reading, homes=homes).versions.argument == "SESSION"


def test_of_a_session_of_our_own_no_version_of_dsh_is_asked_for(tmp_path: Path) -> None:
    place = tmp_path / "sessions" / "--srv--" / "session-a"
    place.mkdir(parents=True)
    failure = {"code": "UNKNOWN", "message": "x is not a function"}
    built = log().turn().user("go").tools("peek").end("error", error=failure)
    found = examine(built.read(place), homes=Homes(tmp_path, tmp_path / "dsh"))
    told = versions_copy(found, EN)
    assert "dsh: not involved: a session of dsh-tui" in told
    assert "profile" not in told and "plugins" not in told
    rows = doctor_lines(found, Layout(width=400, tr=EN, expanded=True, full=True))
    assert any("says: the route's endpoint." in plain(row) for row in rows)
