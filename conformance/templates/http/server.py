"""A toy agent server that speaks AG-UI, to be replaced by yours: ``python server.py [PORT]``.

Its model is at ``OPENAI_BASE_URL``. To check the server, let turncheck play the model there:
``OPENAI_BASE_URL=http://127.0.0.1:8790/v1 python server.py``.
"""

import json
import os
import sys

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.responses import StreamingResponse
from starlette.routing import Route

MODEL = os.environ.get("OPENAI_BASE_URL", "http://127.0.0.1:8790/v1")
HEADERS = {"Authorization": f"Bearer {os.environ.get('OPENAI_API_KEY', 'none')}"}


async def answer(request):
    """One run: the whole history comes in, the run's events go out."""
    run = await request.json()
    return StreamingResponse(events(run), media_type="text/event-stream")


async def events(run):
    """The events of a run as server-sent events. A client that disconnects cancels this, and the model's stream."""
    name = {"threadId": run["threadId"], "runId": run["runId"]}
    yield sent({"type": "RUN_STARTED"} | name)
    try:
        async for event in respond(run):
            yield sent(event)
    except (httpx.HTTPError, ValueError) as error:
        yield sent({"type": "RUN_ERROR", "message": str(error) or type(error).__name__})
    else:
        yield sent({"type": "RUN_FINISHED"} | name)


async def respond(run):
    """One response of the model. The client executes its calls, and answers them in the next run's input."""
    message, text, calls = f"m{len(run['messages'])}", False, []
    async for delta in asked(run):
        if delta.get("content"):
            if not text:
                yield {"type": "TEXT_MESSAGE_START", "messageId": message, "role": "assistant"}
            text = True
            yield {"type": "TEXT_MESSAGE_CONTENT", "messageId": message, "delta": delta["content"]}
        for call in delta.get("tool_calls") or []:
            if call.get("id"):
                calls.append({"id": call["id"], "name": call["function"]["name"], "arguments": ""})
            calls[-1]["arguments"] += call["function"].get("arguments") or ""
    if text:
        yield {"type": "TEXT_MESSAGE_END", "messageId": message}
    for call in calls:  # only now: a call of a response that broke off would stay open for ever
        yield {
            "type": "TOOL_CALL_START",
            "toolCallId": call["id"],
            "toolCallName": call["name"],
            "parentMessageId": message,
        }
        yield {"type": "TOOL_CALL_ARGS", "toolCallId": call["id"], "delta": call["arguments"]}
        yield {"type": "TOOL_CALL_END", "toolCallId": call["id"]}


async def asked(run):
    """The deltas of a streamed chat completion. Raises httpx.HTTPError, and ValueError for a stream that breaks."""
    tools = [{"type": "function", "function": {"name": tool["name"], "parameters": {}}} for tool in run["tools"]]
    body = {"model": "toy", "stream": True, "messages": [for_model(message) for message in run["messages"]]}
    async with (
        httpx.AsyncClient(headers=HEADERS, timeout=None) as client,
        client.stream("POST", f"{MODEL}/chat/completions", json=body | ({"tools": tools} if tools else {})) as response,
    ):
        response.raise_for_status()
        async for line in response.aiter_lines():
            data = line.removeprefix("data:").strip()
            if data == "[DONE]":
                return
            if data:
                chunk = json.loads(data)
                if "error" in chunk:
                    raise ValueError(str(chunk["error"]))
                for choice in chunk["choices"]:
                    yield choice["delta"]
    raise ValueError("the model's stream ended amid its answer")


def for_model(message):
    """Convert a message of AG-UI to OpenAI's form."""
    if message["role"] == "tool":
        return {"role": "tool", "tool_call_id": message["toolCallId"], "content": message["content"]}
    calls = {"tool_calls": message["toolCalls"]} if message.get("toolCalls") else {}
    return {"role": message["role"], "content": message.get("content")} | calls


def sent(event):
    """An event on the wire."""
    return f"data: {json.dumps(event)}\n\n"


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8000
    routes = [Route("/agent", answer, methods=["POST"])]
    uvicorn.run(Starlette(routes=routes), host="127.0.0.1", port=port, log_level="warning")
