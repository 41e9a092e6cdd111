"""Partial, typed decode of event lines: what the folds need and no more.

One `msgspec` union decodes envelope and the needed part of the payload in a single pass (about 500 MB/s),
so opening a log does not cost what its payloads cost. Fields that no fold reads are skipped unseen. A line
that this decoder refuses is not damage yet: `irregular.record_of` looks at it again with the tolerance of
dsh (spec session-format §2.4, §2.5).
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Union, cast

import msgspec

from tui.session.events import KNOWN_TYPES
from tui.session.json_value import MAX_SAFE_INTEGER


class Part(msgspec.Struct, gc=False):
    """Base of payload parts; unknown members are tolerated as dsh does."""


class Replace(Part):
    """`surfaceOp` of a replacement."""

    startSeq: int
    endSeq: int
    op: str = "replace"


class Block(Part):
    """A content block; only what sizes and pairing need."""

    type: str = ""
    text: str = ""
    id: str = ""
    name: str = ""
    toolName: str = ""


class Source(Part):
    kind: str = ""
    form: str = ""


class Message(Part):
    content: list[Block] = []
    source: Source | None = None
    id: str = ""


class ToolMessage(Part):
    toolCallId: str = ""
    content: list[Block] = []
    isError: bool = False


class Failure(Part):
    code: str = ""
    status: int | None = None


class ErrorName(Part):
    code: str = ""
    name: str = ""


class Usage(Part):
    inputTokens: int = 0
    outputTokens: int = 0
    cacheReadTokens: int = 0
    cacheWriteTokens: int = 0


class TurnData(Part):
    turn: int


class StepData(Part):
    turn: int
    step: int


class Reason(Part):
    kind: str = ""
    error: Failure | None = None


class TurnEndData(Part):
    turn: int
    reason: Reason


class MessageData(Part):
    turn: int
    step: int
    message: Message
    headerSeq: int | None = None


class AssistantData(Part):
    turn: int
    step: int
    message: Message
    usage: Usage | None = None
    interrupted: bool = False


class ToolCallData(Part):
    callId: str
    name: str
    turn: int = 0
    step: int = 0


class ToolResultData(Part):
    message: ToolMessage
    turn: int = 0
    step: int = 0
    error: ErrorName | None = None


class NestedCallData(Part):
    rootCallId: str
    parentCallId: str
    subCallId: str
    name: str
    isError: bool = False
    error: ErrorName | None = None


class RetryData(Part):
    retryId: str
    turn: int = 0
    step: int = 0


class ContextData(Part):
    provider: str = ""
    model: str = ""
    contextWindow: int | None = None


class CompactionStartData(Part):
    compactionId: str


class CompactionSummaryData(Part):
    compactionId: str
    shadowedSeqs: list[int] = []
    shadowedTokenCount: int = 0
    usage: Usage | None = None


class CompactionEndData(Part):
    compactionId: str
    error: str | None = None


class Pending(Part):
    """A message waiting in the inbox."""

    id: str = ""
    source: Source | None = None


class SpliceData(Part):
    target: str
    start: int
    removedCount: int = 0
    inserted: list[Pending] = []
    outcome: str = ""


class CommandData(Part):
    commandId: str
    kind: str = ""


class JobData(Part):
    jobId: str
    status: str = ""


class ApprovalData(Part):
    id: str
    outcome: str = ""


class SeedData(Part):
    inherited: bool = False


class TitleData(Part):
    title: str = ""


class OffloadTarget(Part):
    seq: int
    imageIndexes: list[int] = []


class OffloadData(Part):
    targets: list[OffloadTarget] = []


Seq = Annotated[int, msgspec.Meta(ge=0, le=MAX_SAFE_INTEGER)]
Time = Annotated[int, msgspec.Meta(ge=-MAX_SAFE_INTEGER, le=MAX_SAFE_INTEGER)]


class Record(msgspec.Struct, gc=False, forbid_unknown_fields=True, tag_field="type", kw_only=True):
    """An event line, partly decoded."""

    code: ClassVar[int] = -1
    type_name: ClassVar[str] = ""

    seq: Seq
    time: Time
    ignorable: bool = False


class SurfaceRecord(Record, kw_only=True):
    surfaceOp: Replace | str
    sourceEventSeqs: msgspec.Raw = msgspec.Raw()


class UserMessage(SurfaceRecord, tag="user/message", kw_only=True):
    data: Message


class SystemMessage(SurfaceRecord, tag="system/message", kw_only=True):
    data: MessageData


class DeveloperMessage(SurfaceRecord, tag="developer/message", kw_only=True):
    data: MessageData


class AssistantMessage(Record, tag="assistant/message", kw_only=True):
    surfaceOp: Replace | str
    data: AssistantData


class ToolResult(SurfaceRecord, tag="tool/result", kw_only=True):
    data: ToolResultData


class TurnStart(Record, tag="turn/start", kw_only=True):
    data: TurnData


class TurnEnd(Record, tag="turn/end", kw_only=True):
    data: TurnEndData


class StepStart(Record, tag="step/start", kw_only=True):
    data: StepData


class StepEnd(Record, tag="step/end", kw_only=True):
    data: StepData


class Attempt(Record, tag="assistant/attempt", kw_only=True):
    data: StepData


class ToolCall(Record, tag="tool/call", kw_only=True):
    data: ToolCallData


class NestedStart(Record, tag="tool/ptc-dispatch-start", kw_only=True):
    data: NestedCallData


class NestedEnd(Record, tag="tool/ptc-dispatch", kw_only=True):
    data: NestedCallData


class RequestHeaderRow(Record, tag="request/header", kw_only=True):
    data: msgspec.Raw


class RequestContext(Record, tag="request/context", kw_only=True):
    data: ContextData


class Retry(Record, tag="llm/retry", kw_only=True):
    data: RetryData


class RetryStarted(Record, tag="llm/retry-started", kw_only=True):
    data: RetryData


class CompactionStart(Record, tag="compaction/start", kw_only=True):
    data: CompactionStartData


class CompactionSummary(Record, tag="compaction/summary", kw_only=True):
    data: CompactionSummaryData


class CompactionEnd(Record, tag="compaction/end", kw_only=True):
    data: CompactionEndData


class Spliced(Record, tag="agent/inbox/spliced", kw_only=True):
    data: SpliceData


class CommandRun(Record, tag="command/run", kw_only=True):
    data: CommandData


class CommandDone(Record, tag="command/done", kw_only=True):
    data: CommandData


class JobRegistered(Record, tag="job/registered", kw_only=True):
    data: JobData


class JobSettled(Record, tag="job/settled", kw_only=True):
    data: JobData


class ApprovalAsked(Record, tag="approval/asked", kw_only=True):
    data: ApprovalData


class ApprovalDecided(Record, tag="approval/decided", kw_only=True):
    data: ApprovalData


class EndSeed(Record, tag="session/end-seed", kw_only=True):
    data: SeedData


class Title(Record, tag="session/title", kw_only=True):
    data: TitleData


class ImageOffload(Record, tag="image/offload", kw_only=True):
    data: OffloadData


class OtherRecord(Record, kw_only=True):
    """A known event of which the folds need the envelope only."""

    data: msgspec.Raw


_DECODED: list[type[Record]] = [
    UserMessage,
    SystemMessage,
    DeveloperMessage,
    AssistantMessage,
    ToolResult,
    TurnStart,
    TurnEnd,
    StepStart,
    StepEnd,
    Attempt,
    ToolCall,
    NestedStart,
    NestedEnd,
    RequestHeaderRow,
    RequestContext,
    Retry,
    RetryStarted,
    CompactionStart,
    CompactionSummary,
    CompactionEnd,
    Spliced,
    CommandRun,
    CommandDone,
    JobRegistered,
    JobSettled,
    ApprovalAsked,
    ApprovalDecided,
    EndSeed,
    Title,
    ImageOffload,
]


def _tag(record: type[Record]) -> str:
    return cast(str, record.__struct_config__.tag)


_FREQUENT = (
    "session-log-deepseek/delivery-accepted",
    "hook/invoked",
    "hook/result",
    "plan/mode",
    "todo/write",
    "workspace/changes",
)
"""Further types that stand often in a log. A class for every known type would cost each start 8 ms."""


def _enveloped() -> list[type[Record]]:
    return [
        cast("type[Record]", msgspec.defstruct(f"Other{i}", [], bases=(OtherRecord,), tag=name, kw_only=True))
        for i, name in enumerate(_FREQUENT)
    ]


_ALL = [*_DECODED, *_enveloped()]
_FAST_NAMES = [_tag(record) for record in _ALL]
TYPE_NAMES: tuple[str, ...] = (*_FAST_NAMES, *sorted(KNOWN_TYPES - set(_FAST_NAMES)))
"""Event type of each type code."""
for _code, _record in enumerate(_ALL):
    _record.code = _code
    _record.type_name = TYPE_NAMES[_code]

CODES: dict[str, int] = {name: code for code, name in enumerate(TYPE_NAMES)}
"""Type code of each known event type."""

RECORDS: dict[str, type[Record]] = dict(zip(_FAST_NAMES, _ALL, strict=True))
"""Record class of each event type that `decode_record` takes."""

decode_record = msgspec.json.Decoder(Union[tuple(_ALL)]).decode  # noqa: UP007
"""Decode one line into its record; raises `msgspec.MsgspecError` for anything out of the ordinary."""


class RareRecord(msgspec.Struct, gc=False, kw_only=True):
    """A known event that is rare and of which the folds need the envelope only."""

    code: int
    seq: int
    time: int
    ignorable: bool = False


class UnknownRecord(msgspec.Struct, gc=False, kw_only=True):
    """An event of a type this format does not know, or a known one whose payload has another shape."""

    seq: int
    time: int
    type_name: str
    ignorable: bool
    known: bool
    """A known type whose payload does not fit."""
