"""One streamed HTTP request: its frames, or the failure that ended it (§4.1, §4.6, §4.7)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar

from tui.llm.errors import MAX_BODY, http_failure, without_secrets
from tui.llm.failure import ABORTED, LlmFailure
from tui.llm.sse import SseDecoder, SseFrame

if TYPE_CHECKING:
    import httpx

    from tui.session.cancel import CancelSignal

IDLE_TIMEOUT_S: Final = 300.0
CONNECT_TIMEOUT_S: Final = 30.0
ERROR_BODY_TIMEOUT_S: Final = 30.0

_Result = TypeVar("_Result")


class Race:
    """Work that ends at once when a signal is cancelled; an asynchronous context manager."""

    __slots__ = ("_signal", "_watch")

    def __init__(self, signal: CancelSignal) -> None:
        self._signal = signal
        self._watch: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Race:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._watch is not None:
            await _stopped(self._watch)

    async def run(self, work: Coroutine[Any, Any, _Result], timeout_s: float | None = None) -> _Result:
        """Return the result of `work`. Raises LlmFailure ABORTED, or TimeoutError.

        Work that did not end is stopped before this returns.
        """
        if self._signal.cancelled:
            work.close()
            raise aborted()
        if self._watch is None:
            self._watch = asyncio.create_task(_cancelled(self._signal))
        task = asyncio.create_task(work)
        try:
            await asyncio.wait({task, self._watch}, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
            if self._watch.done():
                raise aborted()
            if not task.done():
                raise TimeoutError
            return task.result()
        finally:
            # Also when the task around this one is cancelled.
            await _stopped(task)


def aborted() -> LlmFailure:
    """Return the failure of a call that its caller cancelled."""
    return LlmFailure("the request was cancelled", ABORTED)


async def _cancelled(signal: CancelSignal) -> None:
    await signal.wait()


async def _stopped(task: asyncio.Task[Any]) -> None:
    if not task.done():
        task.cancel()
        await asyncio.wait({task})
    if not task.cancelled():
        task.exception()  # seen, so that nobody complains that it was not


class HttpStreams:
    """Streamed POST requests of one provider, over connections that are kept open between them."""

    def __init__(self, *, idle_timeout_s: float = IDLE_TIMEOUT_S) -> None:
        self._client: httpx.AsyncClient | None = None
        self._idle_timeout_s = idle_timeout_s

    async def aclose(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def frames(
        self,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        signal: CancelSignal,
        secrets: Iterable[str] = (),
    ) -> AsyncGenerator[SseFrame, None]:
        """Yield the frames of the answer as they come.

        Raises LlmFailure: what an error answer says, TRANSPORT, TIMEOUT when nothing comes for too long while
        it is waited for, ABORTED as soon as the signal is cancelled. Redirects are refused: a key goes to
        no other address. The connection is closed however the iteration ends.
        """
        import httpx

        secrets = tuple(secrets)
        client = self._open_client()
        request = client.build_request("POST", url, headers=dict(headers), content=body)
        response: httpx.Response | None = None
        try:
            async with Race(signal) as race:
                response = await race.run(client.send(request, stream=True), self._idle_timeout_s)
                async for frame in self._read(response, race, secrets):
                    yield frame
        except TimeoutError:
            raise self._idle() from None
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError) as error:
            raise _transport(error, secrets) from None
        finally:
            if response is not None:
                await asyncio.shield(_closed(response))

    async def _read(
        self, response: httpx.Response, race: Race, secrets: tuple[str, ...]
    ) -> AsyncIterator[SseFrame]:
        if 300 <= response.status_code < 400:
            raise LlmFailure("the provider redirects to another address, which is refused", "TRANSPORT")
        pieces = response.aiter_bytes()
        if not response.is_success or "json" in response.headers.get("content-type", ""):
            await self._refuse(response, pieces, race, secrets)
        decoder = SseDecoder()
        left = self._idle_timeout_s
        while True:
            asked = time.monotonic()
            piece = await race.run(_next(pieces), left)
            if piece is None:
                return
            frames = decoder.feed(piece)
            # Bytes that complete nothing are no sign of life. The time between reads does not count.
            if decoder.activity:
                decoder.activity = 0
                left = self._idle_timeout_s
            else:
                left = max(left - (time.monotonic() - asked), 0)
            for frame in frames:
                yield frame

    async def _refuse(
        self,
        response: httpx.Response,
        pieces: AsyncIterator[bytes],
        race: Race,
        secrets: tuple[str, ...],
    ) -> NoReturn:
        """Raise the failure of an answer that is no stream."""
        import httpx

        body = bytearray()
        # A body that breaks off still has its status, which says more.
        with suppress(httpx.HTTPError, TimeoutError):
            while len(body) < MAX_BODY:
                piece = await race.run(_next(pieces), min(self._idle_timeout_s, ERROR_BODY_TIMEOUT_S))
                if piece is None:
                    break
                body += piece
        failure = http_failure(
            response.status_code,
            {name.lower(): value for name, value in response.headers.items()},
            bytes(body[:MAX_BODY]),
            now_ms=time.time_ns() // 1_000_000,
            secrets=secrets,
        )
        if response.is_success:
            # An error in a 200 answer says itself what it is; any other document is no answer.
            code = "MALFORMED_RESPONSE" if failure.code.startswith("HTTP_") else failure.code
            failure = LlmFailure(failure.message, code, request_id=failure.request_id)
        raise failure

    def _open_client(self) -> httpx.AsyncClient:
        import httpx

        if self._client is None:
            # One request per attempt: retries are the loop's business, and they are in the log.
            self._client = httpx.AsyncClient(
                follow_redirects=False,
                timeout=httpx.Timeout(None, connect=CONNECT_TIMEOUT_S),
            )
        return self._client

    def _idle(self) -> LlmFailure:
        return LlmFailure(f"nothing came from the provider for {self._idle_timeout_s:g} s", "TIMEOUT")


async def _next(pieces: AsyncIterator[bytes]) -> bytes | None:
    return await anext(pieces, None)


async def _closed(response: httpx.Response) -> None:
    import httpx

    with suppress(httpx.HTTPError, OSError):
        await response.aclose()


def _transport(error: Exception, secrets: tuple[str, ...]) -> LlmFailure:
    reason = without_secrets(str(error), secrets) or type(error).__name__
    return LlmFailure(f"the connection to the provider failed: {reason}", "TRANSPORT")
