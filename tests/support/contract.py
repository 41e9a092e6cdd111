"""Checks documents against the contract's JSON (shared CONTRACT.md, "JSON"): keys, types, and no null.

Written from the contract by hand; it shares no code with the program.
"""

from __future__ import annotations

from typing import Any

# fmt: off
CHAT_KINDS = {
    "user", "assistant", "reasoning", "tool", "context", "header", "system", "compaction", "retry", "failure",
    "interrupted", "command", "plan", "todo", "job", "approval", "subagent", "title", "unknown", "damage",
}
TRAJECTORY_KINDS = {
    "system", "user", "context", "assistant", "tool", "header", "compaction", "retry", "failure", "event",
    "unknown", "damage",
}
PREFIX_CAUSES = {
    "first", "model", "system-prompt", "tools-redefined", "tools-changed", "series", "surface", "compaction",
    "image-offload",
}
# fmt: on
CAUSES = {"initial", "series", "starts-series", "redefined"}
STATES = {"ok", "empty", "damaged", "unreadable", "old-format", "newer-format"}
# What a log itself holds may hold null.
RECORDED = {"data", "details"}


def faults(document: Any, view: str) -> list[str]:
    """What of a document breaks the contract, one sentence each; empty for a good one."""
    check = _Check()
    check.equal("format", document.get("format"), f"dsh-tui/{view}")
    check.equal("version", document.get("version"), 1)
    check.no_null(document, "")
    if view == "sessions":
        check.sessions(document)
    else:
        check.session(document["session"])
        {
            "chat": check.chat,
            "trajectory": check.trajectory,
            "tools": check.tools,
            "doctor": check.doctor,
            "requests": check.requests,
        }[view](document)
    return check.found


class _Check:
    def __init__(self) -> None:
        self.found: list[str] = []

    def equal(self, where: str, value: Any, wanted: Any) -> None:
        if value != wanted or type(value) is not type(wanted):
            self.found.append(f"{where}: {value!r} instead of {wanted!r}")

    def within(self, where: str, value: Any, allowed: set[str]) -> None:
        if value not in allowed:
            self.found.append(f"{where}: {value!r}")

    def keys(self, where: str, entry: dict[str, Any], required: dict[str, type], **optional: type) -> None:
        for key, kind in required.items():
            if key not in entry:
                self.found.append(f"{where}: no {key}")
            elif not _is(entry[key], kind):
                self.found.append(f"{where}.{key}: {entry[key]!r:.80} is no {kind.__name__}")
        for key, kind in optional.items():
            if key in entry and not _is(entry[key], kind):
                self.found.append(f"{where}.{key}: {entry[key]!r:.80} is no {kind.__name__}")

    def names(self, where: str, entry: dict[str, Any], *keys: str) -> None:
        for key in keys:
            value = entry.get(key)
            if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
                self.found.append(f"{where}.{key}: {value!r:.80} is no list of names")

    def no_null(self, value: Any, where: str) -> None:
        if value is None:
            self.found.append(f"{where}: null")
        elif isinstance(value, dict):
            for key, member in value.items():
                if key not in RECORDED:
                    self.no_null(member, f"{where}.{key}")
        elif isinstance(value, list):
            for at, member in enumerate(value):
                self.no_null(member, f"{where}[{at}]")

    def session(self, session: dict[str, Any]) -> None:
        required = {"id": str, "format_version": int, "events": int, "damage": list}
        self.keys("session", session, required, cwd=str, title=str, created_ms=int)
        for at, damage in enumerate(session["damage"]):
            self.damage(f"damage[{at}]", damage)

    def damage(self, where: str, damage: dict[str, Any]) -> None:
        required = {"code": str, "line": int, "offset": int, "reason": str}
        self.keys(where, damage, required, frame_offset=int)

    def tool_change(self, where: str, change: dict[str, Any]) -> None:
        self.names(where, change, "added", "removed", "restored", "redefined")
        self.keys(where, change, {"expandable": bool}, header_seq=int)
        if not {*change["restored"], *change["redefined"]} <= set(change["added"]):
            self.found.append(f"{where}: restored or redefined is no subset of added")
        if ("header_seq" in change) != bool(change["added"]):
            self.found.append(f"{where}: header_seq goes with additions")

    def requests(self, document: dict[str, Any]) -> None:
        for at, entry in enumerate(document["requests"]):
            where = f"requests[{at}]"
            required = {"n": int, "seq": int, "route": dict, "mode": str, "mode_from": str, "messages": int}
            self.keys(where, entry, {**required, "prefix": dict}, turn=int, step=int, usage=dict)
            self.equal(f"{where}.n", entry["n"], at + 1)
            self.within(f"{where}.mode", entry["mode"], {"none", "addition-only", "in-history"})
            self.within(f"{where}.mode_from", entry["mode_from"], {"catalog", "assumed", "option"})
            self.names(where, entry, "declared", "deferred")
            prefix = entry["prefix"]
            self.keys(f"{where}.prefix", prefix, {"kept_messages": int, "causes": list}, broken_at=str)
            for cause in prefix["causes"]:
                self.within(f"{where}.prefix.causes", cause, PREFIX_CAUSES)
            if ("broken_at" in prefix) != bool(prefix["causes"] and prefix["causes"] != ["first"]):
                self.found.append(f"{where}.prefix: {prefix!r} is broken without a cause, or the other way")

    def chat(self, document: dict[str, Any]) -> None:
        for at, node in enumerate(document["nodes"]):
            where = f"nodes[{at}]"
            self.within(f"{where}.kind", node.get("kind"), CHAT_KINDS)
            self.keys(where, node, {"text": str}, seq=int, turn=int, step=int, time_ms=int, duration_ms=int)
            if node["kind"] != "damage":
                self.keys(where, node, {"seq": int, "time_ms": int})
            match node["kind"]:
                case "tool":
                    self.keys(where, node, {"name": str, "call_id": str, "arguments": str}, result=str)
                    self.keys(where, node, {}, is_error=bool, error_code=str, parent_call_id=str)
                    if ("result" in node) != ("is_error" in node):
                        self.found.append(f"{where}: result and is_error go together")
                case "context":
                    self.keys(where, node, {"source": str, "body": str}, tool_change=dict)
                    if "tool_change" in node:
                        self.tool_change(f"{where}.tool_change", node["tool_change"])
                case "header":
                    self.names(where, node, "redefined")
                case "system":
                    self.within(
                        f"{where}.change", node.get("change"), {"initial", "appended", "replaced", "cleared"}
                    )
                case "failure":
                    self.keys(where, node, {"code": str, "message": str})
                case "unknown":
                    self.keys(where, node, {"type": str, "ignorable": bool})
                case "damage":
                    self.damage(where, node)
                case _:
                    pass

    def trajectory(self, document: dict[str, Any]) -> None:
        requests: list[int] = []
        for at, row in enumerate(document["rows"]):
            where = f"rows[{at}]"
            self.equal(f"{where}.index", row.get("index"), at)
            self.within(f"{where}.kind", row.get("kind"), TRAJECTORY_KINDS)
            self.keys(where, row, {"title": str, "text": str}, seq=int, turn=int, step=int, request=int)
            self.keys(where, row, {}, started_ms=int, duration_ms=int, ttft_ms=int, status=str, usage=dict)
            if "usage" in row:
                counts = ("input", "output", "cache_read", "cache_write")
                self.keys(f"{where}.usage", row["usage"], dict.fromkeys(counts, int))
            if "tool_change" in row:
                self.tool_change(f"{where}.tool_change", row["tool_change"])
            if "request" in row:
                requests.append(row["request"])
            for key in ("duration_ms", "ttft_ms"):
                if row.get(key, 0) < 0:
                    self.found.append(f"{where}.{key}: below zero")
        self.equal("requests in order", requests, list(range(1, len(requests) + 1)))

    def doctor(self, document: dict[str, Any]) -> None:
        for at, finding in enumerate(document["findings"]):
            where = f"findings[{at}]"
            self.keys(where, finding, {"code": str, "text": str, "advice": str}, seq=int)
            self.within(f"{where}.severity", finding.get("severity"), {"error", "warning", "note"})

    def tools(self, document: dict[str, Any]) -> None:
        for at, header in enumerate(document["headers"]):
            where = f"headers[{at}]"
            self.keys(where, header, {"seq": int, "reason": str, "route": dict}, turn=int, step=int)
            self.keys(f"{where}.route", header["route"], {"provider": str, "model": str}, endpoint=str)
            self.names(where, header, "active")
        seqs = [change["seq"] for change in document["changes"]]
        self.equal("changes in order", seqs, sorted(seqs))
        for at, change in enumerate(document["changes"]):
            where = f"changes[{at}]"
            self.keys(where, change, {"seq": int}, header_seq=int, turn=int, step=int)
            self.names(where, change, "added", "removed", "restored", "redefined")
        for at, start in enumerate(document["series"]):
            self.keys(f"series[{at}]", start, {"start_seq": int})
            self.within(f"series[{at}].cause", start.get("cause"), CAUSES)

    def sessions(self, document: dict[str, Any]) -> None:
        if "session" in document:
            self.found.append("a list has no session of its own")
        for at, row in enumerate(document["sessions"]):
            where = f"sessions[{at}]"
            required = {"id": str, "path": str, "store": str, "state": str, "bytes": int}
            self.keys(where, row, required, reason=str, format_version=int, title=str, cwd=str)
            self.keys(where, row, {}, created_ms=int, updated_ms=int, tool_changes=int, parent=str)
            self.within(f"{where}.store", row.get("store"), {"own", "dsh"})
            self.within(f"{where}.state", row.get("state"), STATES)
            if row.get("state") != "ok":
                self.keys(where, row, {"reason": str})
            if "models" in row:
                self.names(where, row, "models")


def _is(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
