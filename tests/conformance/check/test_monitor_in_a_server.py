"""The server of the tutorial under a thousand streams at once: each session has its own findings, and none is left."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

TUTORIAL: Final = Path(__file__).parents[3] / "docs" / "tutorials" / "watch-live-streams.md"
SESSIONS: Final = 1000
STARTED: Final = {"type": "RUN_STARTED", "threadId": "t", "runId": "r"}
FINISHED: Final = {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}
TEXT: Final = [
    {"type": "TEXT_MESSAGE_START", "messageId": "m", "role": "assistant"},
    {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "I look."},
    {"type": "TEXT_MESSAGE_END", "messageId": "m"},
]
RESULT: Final = {"type": "TOOL_CALL_RESULT", "messageId": "n", "toolCallId": "c1", "content": "sunny"}
KINDS: Final[dict[str, list[dict[str, Any]]]] = {
    "right": [STARTED, FINISHED],
    "unknown-call": [STARTED, *TEXT, RESULT, FINISHED],
    "truncated": [STARTED],
    "outside-run": [STARTED, FINISHED, FINISHED],
}


async def body(kind: str, everybody: asyncio.Barrier) -> AsyncIterator[str]:
    """The events of a response; the first one is sent when every response has begun."""
    await everybody.wait()
    for event in KINDS[kind]:
        yield f"data: {json.dumps(event)}\n\n"
        await asyncio.sleep(0)


def served(capsys: pytest.CaptureFixture[str]) -> tuple[list[str], str]:
    """What the tutorial's server reports, and its metrics, after a thousand streams that all ran at once."""
    (source,) = re.findall(r"`server\.py`:\n\n```python\n(.*?)```", TUTORIAL.read_text("utf-8"), re.DOTALL)
    server: dict[str, Any] = {}
    exec(compile(source, "server.py", "exec"), server)

    async def run() -> str:
        everybody = asyncio.Barrier(SESSIONS)

        async def agent(request: Request) -> StreamingResponse:
            return StreamingResponse(body((await request.json())["question"], everybody))

        routes = [Route("/agent", agent, methods=["POST"]), Route("/metrics", server["metrics"])]
        transport = httpx.ASGITransport(server["Watch"](Starlette(routes=routes)))
        async with httpx.AsyncClient(transport=transport, base_url="http://server", timeout=None) as client:
            kinds = [*KINDS] * (SESSIONS // len(KINDS))
            await asyncio.gather(*(client.post("/agent", json={"question": kind}) for kind in kinds))
            return (await client.get("/metrics")).text

    metrics = asyncio.run(run())
    return capsys.readouterr().out.splitlines(), metrics


def test_a_thousand_streams_at_once_have_their_own_findings(capsys: pytest.CaptureFixture[str]) -> None:
    told, metrics = served(capsys)
    each = SESSIONS // len(KINDS)
    laws = [line.split(": ")[1].split(" ")[0] for line in told]
    assert {law: laws.count(law) for law in KINDS} == dict.fromkeys(KINDS, each) | {"right": 0}
    assert len({line.split(":")[0] for line in told}) == len(told)
    assert f"turncheck_events_total {each * 12}\n" in metrics
    assert f"turncheck_cycles_total {each * 3}\n" in metrics
    assert "turncheck_sessions 0\n" in metrics
    assert f'turncheck_findings_total{{law="truncated"}} {each}\n' in metrics
