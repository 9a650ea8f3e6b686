"""Record what the `openai` package reads of a Chat Completions stream from a scripted server: python record.py OUT

Each chunk is written as the application gets it (``model_dump``), and of some scenarios the server's own bytes.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from openai import APIError, OpenAI

SSE = {"text": "text", "tools": "tools", "model-failure-amid-text": "server-error"}
"""Scenario → the file of the server's own bytes: the client raises the error, and hands no chunk out."""
HEAD = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1767225600, "model": "scripted"}


def chunk(finish=None, **delta):
    return {**HEAD, "choices": [{"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}]}


def words(field, text):
    return [chunk(**{field: text[start : start + 7]}) for start in range(0, len(text), 7)]


def call(index, call_id, tool, arguments):
    half = len(arguments) // 2
    yield chunk(
        tool_calls=[{"index": index, "id": call_id, "type": "function", "function": {"name": tool, "arguments": ""}}]
    )
    for piece in (arguments[:half], arguments[half:]):
        yield chunk(tool_calls=[{"index": index, "function": {"arguments": piece}}])


ROLE = chunk(role="assistant", content="")
USAGE = {**HEAD, "choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}
ERROR = {"error": {"message": "no credit", "type": "server_error", "param": None, "code": None}}
READ, GREP = ("call-1", "read", '{"path": "a.txt"}'), ("call-2", "grep", '{"pattern": "alpha"}')
CUT, LEAVE = object(), object()  # the connection ends; the application closes the stream
# name -> the server's chunks
SCENARIOS = {
    "text": [ROLE, *words("content", "Hello there."), chunk("stop"), USAGE],
    "reasoning": [ROLE, *words("reasoning_content", "Greet back."), *words("content", "Hello there."), chunk("stop")],
    "tools": [ROLE, *words("content", "I look at it."), *call(0, *READ), chunk("tool_calls"), USAGE],
    "two-tools": [ROLE, *call(0, *READ), *call(1, *GREP), chunk("tool_calls")],
    "model-failure-amid-text": [ROLE, *words("content", "Hello there."), ERROR],
    "abort-amid-text": [ROLE, *words("content", "Hello there."), LEAVE, chunk("stop")],
    # More than was asked for.
    "abort-amid-call": [ROLE, *list(call(0, *READ))[:2], LEAVE, chunk("tool_calls")],
    "model-stream-cut": [ROLE, *words("content", "Hello there."), CUT],
    "length-stop": [ROLE, *words("content", "Hello there."), chunk("length")],
    "content-filter": [ROLE, *words("content", "Hello"), chunk("content_filter")],
    "refusal": [chunk(role="assistant", refusal=""), *words("refusal", "I will not."), chunk("stop")],
    "two-choices": [
        {**HEAD, "choices": [{"index": index, "delta": delta, "finish_reason": finish} for index in (0, 1)]}
        for delta, finish in (({"role": "assistant", "content": "Hello."}, None), ({}, "stop"))
    ],
}


def body(chunks):
    for given in chunks:
        if given is CUT:
            return
        if given is not LEAVE:
            yield f"data: {json.dumps(given)}\n\n"
    yield "data: [DONE]\n\n"


class Model(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self.wfile.write("".join(body(SCENARIOS[asked["model"]])).encode())

    def log_message(self, *_):
        pass


def read(client, name):
    """The chunks that the client hands out, until the application leaves or the stream fails."""
    until = SCENARIOS[name].index(LEAVE) if LEAVE in SCENARIOS[name] else None
    with client.chat.completions.create(
        model=name, messages=[{"role": "user", "content": "red"}], stream=True
    ) as stream:
        try:
            for number, given in enumerate(stream):
                if number == until:
                    return
                yield given.model_dump(exclude_unset=True)
        except APIError as error:
            print(f"{name}: {error}", file=sys.stderr)


def main(out):
    out.mkdir(parents=True)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    Thread(target=server.serve_forever, daemon=True).start()
    client = OpenAI(api_key="none", base_url=f"http://127.0.0.1:{server.server_port}", max_retries=0)
    for name, chunks in SCENARIOS.items():
        lines = [json.dumps(given) + "\n" for given in read(client, name)]
        (out / f"{name}.jsonl").write_text("".join(lines))
        if name in SSE:
            (out / f"{SSE[name]}.sse").write_text("".join(body(chunks)))
    server.shutdown()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
