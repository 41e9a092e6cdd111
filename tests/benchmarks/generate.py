"""Writes valid session logs of any length, for measuring.

A log of N events (about 600 bytes an event) tells of turns with steps, parallel calls, failing tools,
retries, failed turns, tool changes, redefinitions, compactions, titles and to-do lists, about as often
as a real recording. Equal arguments give equal bytes. The order rules are those of spec session-format §3.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from array import array
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

CREATED_MS: Final = 1_790_000_000_000
CWD: Final = "/srv/alder/orchard"
LAST_PROMPT: Final = "Lastly, who waters the quince tonight?"
LAST_ANSWER: Final = "Nobody waters the quince tonight; the rain does."

_VOCABULARY: Final = """
the and a pear tree apple bough ladder basket frost graft root wall bee hive path gate rain barrel hedge
scythe crate cellar press juice quince medlar plum damson orchard keeper morning north south row label twig
"""
_WORDS: Final = tuple(_VOCABULARY.split())
_TOOLS: Final = 24
_PROVIDER: Final = "deepseek-official"
_MODEL: Final = "deepseek-flash"
_POLICY: Final = '["normal",3,["RATE_LIMIT","SERVER"],20,100,0.1]'
_LONGEST_TURN: Final = 70
_SHORT_TURN: Final = 9


class _Answer(NamedTuple):
    """One answer's text in its JSON forms; made once and used often, so that a long log is quick to write."""

    text: str
    pieces: str
    gaps: str
    pieces_ms: int
    tokens: int


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _answer(text: str, rng: Random, size: int) -> _Answer:
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    gaps = [rng.choice((0, 0, 1, 4, 9)) for _ in pieces[1:]]
    return _Answer(_json(text), _json(pieces), _json(gaps), sum(gaps), len(text) // 4 + 1)


def _prose(rng: Random, words: int) -> str:
    return " ".join(rng.choices(_WORDS, k=words)).capitalize() + "."


def _markdown(rng: Random, number: int) -> str:
    """An answer of some other form than plain prose, or plain prose."""
    forms = (
        lambda: "## " + _prose(rng, 4) + "\n\n" + "\n".join(f"- {_prose(rng, 9)}" for _ in range(5)),
        lambda: (
            _prose(rng, 12) + "\n\n```python\nfor row in orchard.rows():\n    row.water(litres=12)\n```\n"
        ),
        lambda: (
            "| row | trees |\n|---|---:|\n" + "\n".join(f"| {i} | {rng.randrange(40)} |" for i in range(6))
        ),
        lambda: "果园北侧有十二棵梨树，" + "昨夜有霜，枝条需要修剪。" * 3,
    )
    return forms[number % 4]() if number % 5 == 0 else _prose(rng, rng.randrange(8, 90))


def _tool(index: int, version: int) -> str:
    """The definition of a tool as it stands in a header."""
    return _json(
        {
            "name": f"mcp__orchard__tool_{index:02d}",
            "description": f"Look after row {index} of the orchard"
            + (f", form {version}." if version else "."),
            "parameters": {
                "type": "object",
                "properties": {"row": {"type": "string", "description": "name of the row"}},
                "required": ["row"],
            },
        }
    )


class _Author:
    """Writes events in order; `lines` collects those of the present turn."""

    def __init__(self, session_id: str, seed: int) -> None:
        rng = self.rng = Random(seed)
        self.session_id = session_id
        self.lines: list[str] = []
        self.seq = 0
        self.time = CREATED_MS
        self.turn = 0
        self.step = 0
        self._nodes = array("q")
        """Seqs on the surface after its head."""
        self._active = list(range(8))
        self._versions = [0] * _TOOLS
        self._moved = False
        """The surface was rewritten since the last request: the next header starts a series."""
        self._thoughts = [_answer(_prose(rng, rng.randrange(8, 40)), rng, 24) for _ in range(96)]
        self._answers = [_answer(_markdown(rng, i), rng, rng.choice((14, 24, 40))) for i in range(160)]
        self._results = [_json(_prose(rng, rng.choice((4, 8, 20, 60, 160)))) for _ in range(96)]
        self._prompts = [_prose(rng, rng.randrange(6, 40))[:-1] for _ in range(64)]

    # -- events

    def event(self, kind: str, data: str, more: str = "", wait_ms: int = 1) -> int:
        """Write an event and return its number; `more` are further members of the envelope."""
        seq = self.seq
        self.seq = seq + 1
        self.time += wait_ms
        self.lines.append(f'{{"type":"{kind}","seq":{seq},"time":{self.time},"data":{data}{more}}}\n')
        return seq

    def message(self, kind: str, data: str, sources: str = "", wait_ms: int = 1) -> int:
        """Write a message that joins the surface at its end."""
        seq = self.event(kind, data, f'{sources},"surfaceOp":"append"', wait_ms)
        if kind != "system/message":
            self._nodes.append(seq)
        return seq

    def new_id(self) -> str:
        digits = f"{self.rng.getrandbits(128):032x}"
        return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"

    def opening(self) -> None:
        """What stands before the first turn."""
        self.event("permission/preset", '{"preset":"workspace-write"}')
        self.event("sandbox/mode", '{"mode":"workspace-write"}')
        self.event("approval/policy", '{"policy":"ask"}')

    # -- parts of a turn

    def begin(self, prompt: str) -> None:
        """A prompt arrives, a turn and its first step begin."""
        self.turn += 1
        self.step = 1
        text, message_id = _json(prompt), self.new_id()
        content = f'"content":[{{"type":"text","text":{text}}}],"source":{{"kind":"user"}}'
        message = f'{{{content},"role":"user","id":"{message_id}"}}'
        splice = '{"target":"next-turn","start":0,'
        self.event("agent/inbox/spliced", f'{splice}"inserted":[{message}]}}', wait_ms=4_000)
        self.event("turn/start", f'{{"turn":{self.turn}}}')
        self.event("agent/inbox/spliced", f'{splice}"removedCount":1,"inserted":[]}}')
        self.start_step()
        if self.turn == 1:
            source = f'"source":{{"kind":"system-prompt"}},"id":"{self.new_id()}"'
            block = '{"type":"text","text":"You keep an invented orchard. Answer briefly."}'
            self.message(
                "system/message",
                f'{{"turn":1,"step":1,"message":{{"role":"system","content":[{block}],{source}}}}}',
            )
        first = self.message("user/message", message)
        if self.turn == 1:
            self.header("initial")
            context = f'"provider":"{_PROVIDER}","model":"{_MODEL}","contextWindow":1000000'
            self.event("request/context", f'{{{context},"systemPromptUpdate":"in-history"}}')
            title = f'"title":"The orchard in one night","messageSeqs":[{first}]'
            self.event("session/title", f'{{{title},"source":{{"kind":"fallback"}}}}')
        elif self._moved:
            self.header("series")
        self._moved = False

    def start_step(self) -> None:
        self.event("step/start", f'{{"turn":{self.turn},"step":{self.step}}}')

    def end_step(self) -> None:
        self.event("step/end", f'{{"turn":{self.turn},"step":{self.step}}}')

    def end_turn(self, reason: str = '{"kind":"completed"}') -> None:
        self.event("turn/end", f'{{"turn":{self.turn},"reason":{reason}}}')

    def header(self, reason: str) -> int:
        tools = ",".join(_tool(index, self._versions[index]) for index in self._active)
        config = f'{{"provider":"{_PROVIDER}","model":"{_MODEL}","reasoningEffort":"high","maxTokens":32000}}'
        return self.event(
            "request/header", f'{{"header":{{"config":{config},"tools":[{tools}]}},"reason":"{reason}"}}'
        )

    def change_tools(self) -> None:
        """Some tools come and go; a removed one may come back, unchanged or with another definition."""
        rng, before = self.rng, self._active
        gone = set(rng.sample(before, k=min(rng.randrange(4), len(before) - 2)))
        absent = [index for index in range(_TOOLS) if index not in before]
        came = sorted(rng.sample(absent, k=min(rng.choice((1, 1, 2, 6)), len(absent))))
        for index in came:
            self._versions[index] += rng.random() < 0.2
        self._active = sorted(set(before) - gone | set(came))
        header = self.header("change")
        blocks = [f'{{"type":"tool-addition","toolName":"mcp__orchard__tool_{i:02d}"}}' for i in came]
        blocks += [f'{{"type":"tool-removal","toolName":"mcp__orchard__tool_{i:02d}"}}' for i in sorted(gone)]
        told = f',"headerSeq":{header}' if came else ""
        place = f'"turn":{self.turn},"step":{self.step}'
        message = f'"source":{{"kind":"tool-registry"}},"content":[{",".join(blocks)}],"role":"developer"'
        if blocks:
            data = f'{{{place},"message":{{{message},"id":"{self.new_id()}"}}{told}}}'
            self.message("developer/message", data)

    def redefine_tool(self) -> None:
        """A definition changes under its name: a header without a developer message."""
        self._versions[self.rng.choice(self._active)] += 1
        self.header("change")

    def attempt(self, code: str, status: int) -> str:
        """A request that fails; returns the failure."""
        cause = f'"message":"The orchard is closed.","code":"{code}","status":{status}'
        failure = f'{{{cause},"requestId":"req-{self.seq}"}}'
        finish = f'{{"type":"finish","reason":{{"kind":"error","failure":{failure}}}}}'
        record = f'{{"type":"chunk","time":{self.time},"chunk":{finish}}}'
        self.event(
            "assistant/attempt", f'{{"turn":{self.turn},"step":{self.step},"stream":[{record}]}}', wait_ms=180
        )
        return failure

    def retry(self) -> None:
        failure = self.attempt("SERVER", 529)
        place = f'"turn":{self.turn},"step":{self.step}'
        chain = f'"retryId":"{self.new_id()}",{place}'
        policy = (
            f'"provider":"{_PROVIDER}","mode":"normal","policyKey":{_json(_POLICY)},"retry":1,"maxRetries":3'
        )
        self.event("llm/retry", f'{{{chain},{policy},"delayMs":512.25,"failure":{failure}}}')
        self.event("llm/retry-started", f'{{{chain},"retry":1}}', wait_ms=512)

    def answer(self, calls: int, answer: _Answer | None) -> list[tuple[str, str, str]]:
        """An assistant message with its stream; returns id, name and arguments (as JSON) of its calls."""
        rng = self.rng
        thought = rng.choice(self._thoughts)
        accepted = f'"sessionId":"{self.session_id}","sessionFormatVersion":4,"throughSeq":{self.seq - 1}'
        self.event("session-log-deepseek/delivery-accepted", f"{{{accepted}}}", wait_ms=30)
        started = self.time + rng.randrange(120, 900)
        content, stream, replay = [], [], [f'{{"type":"reasoning","signature":"sig-{self.seq:012x}"}}']
        self._stream_text(stream, "reasoning", 0, thought, started)
        content.append(f'{{"type":"reasoning","text":{thought.text}}}')
        now = started + thought.pieces_ms
        tokens = thought.tokens
        if answer is not None:
            self._stream_text(stream, "text", 1, answer, now)
            content.append(f'{{"type":"text","text":{answer.text}}}')
            replay.append('{"type":"text"}')
            now += answer.pieces_ms
            tokens += answer.tokens
        made: list[tuple[str, str, str]] = []
        for _ in range(calls):
            call_id = f"call_{rng.getrandbits(80):020x}"
            name = f"mcp__orchard__tool_{rng.choice(self._active):02d}"
            arguments = _json(f'{{"row": "{rng.choice(_WORDS)}"}}')
            block = f'{{"type":"tool-call","id":"{call_id}","name":"{name}","arguments":{arguments}}}'
            index = len(content)
            head = f'{{"type":"tool-call-chunks","time0":{now},"index":{index},"dt":[],"id":"{call_id}"'
            stream += (
                f'{{"type":"chunk","time":{now},"chunk":{{"type":"block-start","index":{index},"blockType":"tool-call"}}}}',
                f'{head},"name":"{name}","args":[""]}}',
                f'{head},"args":[{arguments}]}}',
                f'{{"type":"chunk","time":{now},"chunk":{{"type":"block-end","index":{index},"block":{block}}}}}',
            )
            content.append(block)
            replay.append('{"type":"tool-call"}')
            made.append((call_id, name, arguments))
            tokens += 12
        cached = min(900_000, 64 * len(self._nodes))
        usage = (
            f'{{"inputTokens":{tokens % 97},"outputTokens":{tokens},"cacheReadTokens":{cached},'
            f'"cacheWriteTokens":128,"totalTokens":{tokens % 97 + tokens + cached + 128}}}'
        )
        kind = "tool-calls" if calls else "stop"
        state = (
            f'"replayState":{{"response":{{"kind":"deepseek-messages","version":1,"model":"{_MODEL}"}},'
            f'"blocks":[{",".join(replay)}]}}'
        )
        stream.append(f'{{"type":"chunk","time":{now},"chunk":{{"type":"usage","usage":{usage}}}}}')
        stream.append(
            f'{{"type":"chunk","time":{now},"chunk":{{"type":"finish","reason":{{"kind":"{kind}"}},{state}}}}}'
        )
        source = f'{{"kind":"model","provider":"{_PROVIDER}","model":"{_MODEL}",{state}}}'
        message = (
            f'{{"role":"assistant","content":[{",".join(content)}],"source":{source},"id":"{self.new_id()}"}}'
        )
        self.message(
            "assistant/message",
            f'{{"turn":{self.turn},"step":{self.step},"message":{message},"usage":{usage},"stream":[{",".join(stream)}]}}',
            wait_ms=now - self.time + 1,
        )
        return made

    @staticmethod
    def _stream_text(stream: list[str], kind: str, index: int, part: _Answer, at: int) -> None:
        end = at + part.pieces_ms
        start = f'{{"type":"block-start","index":{index},"blockType":"{kind}"}}'
        stop = f'{{"type":"block-end","index":{index},"block":{{"type":"{kind}","text":{part.text}}}}}'
        stream += (
            f'{{"type":"chunk","time":{at},"chunk":{start}}}',
            f'{{"type":"{kind}-chunks","time0":{at},"index":{index},"dt":{part.gaps},"texts":{part.pieces}}}',
            f'{{"type":"chunk","time":{end},"chunk":{stop}}}',
        )

    def run_calls(self, calls: list[tuple[str, str, str]]) -> None:
        """Each call runs and is answered, in order; one in thirty fails."""
        rng = self.rng
        place = f'"turn":{self.turn},"step":{self.step}'
        for call_id, name, arguments in calls:
            started = self.event(
                "tool/call", f'{{{place},"callId":"{call_id}","name":"{name}","arguments":{arguments}}}'
            )
            failed = rng.random() < 1 / 30
            error = ',"error":{"name":"ToolError","code":"ROW_NOT_FOUND"}' if failed else ""
            message = (
                f'{{"role":"tool","source":{{"kind":"tool","callId":"{call_id}"}},"toolCallId":"{call_id}",'
                f'"content":[{{"type":"text","text":{rng.choice(self._results)}}}],'
                f'"isError":{"true" if failed else "false"},"id":"{self.new_id()}"}}'
            )
            self.message(
                "tool/result",
                f'{{{place},"message":{message}{error}}}',
                f',"sourceEventSeqs":[{started}]',
                rng.randrange(1, 90),
            )

    def compact(self) -> None:
        """Put a summary in the place of the whole surface behind its head."""
        shadowed, compaction = self._nodes.tolist(), self.new_id()
        common = f'"compactionId":"{compaction}"'
        start = self.event("compaction/start", f'{{{common},"turn":null}}')
        text = _json("So far: " + _prose(self.rng, 90))
        block = f'{{"type":"text","text":{text}}}'
        seqs = ",".join(map(str, shadowed))
        span = f'"shadowedRange":{{"start":{shadowed[0]},"end":{shadowed[-1]}}},"shadowedSeqs":[{seqs}]'
        summary = self.event(
            "compaction/summary",
            f'{{{common},"summary":[{block}],"rawOutput":[{block}],"llmStreamCall":true,{span},'
            f'"shadowedTokenCount":{64 * len(shadowed)},"provider":"{_PROVIDER}","model":"{_MODEL}",'
            '"maxTokens":2000}',
            wait_ms=1_800,
        )
        source = f'{{"kind":"compact-checkpoint",{common}}}'
        checkpoint = self.event(
            "user/message",
            f'{{"content":[{block}],"source":{source},"role":"user","id":"{self.new_id()}"}}',
            f',"surfaceOp":{{"op":"replace","startSeq":{shadowed[0]},"endSeq":{shadowed[-1]}}},'
            f'"sourceEventSeqs":[{start},{summary},{seqs}]',
        )
        self.event("compaction/end", f'{{{common},"turn":null}}')
        self._nodes = array("q", [checkpoint])
        self._moved = True

    # -- turns

    def ordinary_turn(self) -> None:
        """One to five steps; every so often something else happens in it."""
        rng, number = self.rng, self.turn + 1
        if number % 40 == 0:
            self.compact()
        self.begin(f"Turn {number}: {rng.choice(self._prompts)}?")
        if number % 55 == 13:
            self.change_tools()
        elif number % 170 == 21:
            self.redefine_tool()
        elif number % 38 == 7:
            self.retry()
        elif number % 97 == 3:
            failure = self.attempt("QUOTA", 402)
            self.end_step()
            self.end_turn(f'{{"kind":"error","error":{failure}}}')
            return
        for _ in range(rng.choice((0, 1, 1, 2, 3))):
            spoken = rng.choice(self._answers) if rng.random() < 0.3 else None
            self.run_calls(self.answer(rng.choice((1, 2, 3, 5, 5)), spoken))
            self.end_step()
            self.step += 1
            self.start_step()
        if number % 120 == 60:
            todos = [{"content": _prose(rng, 5), "status": status} for status in ("completed", "in_progress")]
            self.event("todo/write", _json({"todos": todos}))
        self.answer(0, rng.choice(self._answers))
        self.end_step()
        self.end_turn()

    def short_turn(self, prompt: str, answer: _Answer) -> None:
        """A question and its answer: always `_SHORT_TURN` events."""
        self._moved = False
        self.begin(prompt)
        self.answer(0, answer)
        self.end_step()
        self.end_turn()

    def fill(self, room: int) -> None:
        """Bring a log to its end with exactly this many more events, at least `_SHORT_TURN`.

        The last turn is the same in every log, so that a screen can be waited for.
        """
        for _ in range(room % _SHORT_TURN):
            self.event("permission/preset", '{"preset":"workspace-write"}')
        for _ in range(room // _SHORT_TURN - 1):
            self.short_turn(self.rng.choice(self._prompts) + "?", self.rng.choice(self._answers))
        self.short_turn(LAST_PROMPT, _answer(LAST_ANSWER, Random(0), 12))


def durable_batches(count: int, seed: int = 1) -> Iterator[list[str]]:
    """The lines of a log of exactly `count` events (at least 200) in the batches a writer would make durable.

    The first batch is the header line; the others hold 5 to 40 events.
    """
    if count < 200:
        raise ValueError("a generated log has at least 200 events")
    session_id = session_id_of(count, seed)
    author = _Author(session_id, seed)
    yield [
        f'{{"type":"session","version":4,"id":"{session_id}","createdAt":{CREATED_MS},"cwd":"{CWD}",'
        '"isSeeded":false,"delegationDepth":0}\n'
    ]
    author.opening()
    size = author.rng.randrange(5, 41)
    while author.seq < count:
        room = count - author.seq
        if room > _SHORT_TURN + _LONGEST_TURN:
            author.ordinary_turn()
        else:
            author.fill(room)
        while len(author.lines) >= size:
            yield author.lines[:size]
            del author.lines[:size]
            size = author.rng.randrange(5, 41)
    if author.lines:
        yield author.lines


def session_id_of(count: int, seed: int) -> str:
    digits = sha256(f"{count}-{seed}".encode()).hexdigest()
    return f"session-{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:32]}"


def write_log(path: Path, count: int, *, seed: int = 1) -> Path:
    """Write a log of `count` events; in zstd frames where the name ends in `.zstd`. Returns the path."""
    with path.open("wb") as file:
        if path.suffix != ".zstd":
            for batch in durable_batches(count, seed):
                file.write("".join(batch).encode())
            return path
        import zstandard

        compress = zstandard.ZstdCompressor(write_checksum=True, write_content_size=False).compress
        for batch in durable_batches(count, seed):
            file.write(compress("".join(batch).encode()))
    return path


def kept_log(count: int, *, zstd: bool = False, seed: int = 1) -> Path:
    """A generated log that is kept in the temporary folder between runs, in the layout of a dsh home.

    The name holds a digest of this file: another generator writes anew.
    """
    version = sha256(Path(__file__).read_bytes()).hexdigest()[:8]
    root = Path(tempfile.gettempdir()) / f"dsh-tui-bench-{version}"
    home = root / f"{count}-{seed}-{'zstd' if zstd else 'plain'}"
    folder = home / "sessions" / f"--{CWD.strip('/').replace('/', '-')}--" / session_id_of(count, seed)
    path = folder / ("session.v4.jsonl.zstd" if zstd else "session.v4.jsonl")
    if not path.exists():
        for older in root.parent.glob("dsh-tui-bench-*"):
            if older != root and older.is_dir():
                shutil.rmtree(older)
        folder.mkdir(parents=True, exist_ok=True)
        write_log(
            folder / ("unfinished.jsonl.zstd" if zstd else "unfinished.jsonl"), count, seed=seed
        ).rename(path)
    return path
