"""The scripted model of the coding agents, on loopback: Anthropic Messages and OpenAI Responses, both as streams.

A script is a list of responses; a response is a list of items: ("text", words), ("thinking", words),
("call", id, tool, arguments), FAIL (the stream breaks) or HANG (it stays open). Side requests (titles, token counts),
which name no tools or want no stream, get an empty answer and take nothing from the script.
"""

import itertools
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FAIL, HANG = "fail", "hang"


class Model(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, script):
        super().__init__(("127.0.0.1", 0), Handler)
        self.script, self.number, self.hung = iter(script), 0, threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self._json({"data": [], "models": [], "object": "list"})

    def do_HEAD(self):
        self._json({})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
        if self.path.split("?")[0].endswith("/v1/messages"):
            self._answer(body, anthropic) if body.get("stream") and body.get("tools") else self._aside()
        elif self.path.split("?")[0].endswith("/responses"):
            self._answer(body, responses)
        else:
            self._json({"input_tokens": 1})

    def _aside(self):
        self._json({"id": "msg_side", "type": "message", "role": "assistant", "model": "scripted", "stop_reason": "end_turn", "stop_sequence": None,
                    "content": [{"type": "text", "text": "aside"}], "usage": {"input_tokens": 1, "output_tokens": 1}})

    def _json(self, value, status=200):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _answer(self, body, wire):
        items = next(self.server.script, [("text", "nothing more")])
        if items == ["refuse"]:
            self.server.script = itertools.repeat(items)  # however often it is asked
            return self._json({"type": "error", "error": {"type": "invalid_request_error", "message": "no credit"}}, 400)
        self.server.number += 1
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            for event in wire(self.server.number, items):
                if event == HANG:
                    self.wfile.flush()
                    self.server.hung.set()
                    time.sleep(120)
                elif event == FAIL:
                    return
                else:
                    self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
            self.wfile.flush()
        except OSError:
            pass  # the agent has gone


def halves(text):
    middle = len(text) // 2
    return text[:middle], text[middle:]


def anthropic(number, items):
    calls = any(item[0] == "call" for item in items)
    yield {"type": "message_start", "message": {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "scripted", "content": [],
                                                "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}}
    for index, item in enumerate(items):
        if item in (FAIL, HANG):
            yield item
            continue
        kind, *rest = item
        if kind == "text":
            block, deltas = {"type": "text", "text": ""}, [{"type": "text_delta", "text": half} for half in halves(rest[0])]
        elif kind == "thinking":
            block = {"type": "thinking", "thinking": "", "signature": ""}
            deltas = [*({"type": "thinking_delta", "thinking": half} for half in halves(rest[0])), {"type": "signature_delta", "signature": "c2ln"}]
        else:
            block = {"type": "tool_use", "id": rest[0], "name": rest[1], "input": {}}
            deltas = [{"type": "input_json_delta", "partial_json": half} for half in halves(json.dumps(rest[2]))]
        yield {"type": "content_block_start", "index": index, "content_block": block}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    yield {"type": "message_delta", "delta": {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None}, "usage": {"output_tokens": 9}}
    yield {"type": "message_stop"}


def responses(number, items):
    head = {"id": f"resp_{number}", "object": "response", "created_at": 0, "model": "scripted", "status": "in_progress", "output": []}
    yield {"type": "response.created", "sequence_number": 0, "response": head}
    done = []
    for index, item in enumerate(items):
        if item in (FAIL, HANG):
            yield item
            continue
        kind, *rest = item
        name = f"item_{number}_{index}"
        if kind == "text":
            whole = {"id": name, "type": "message", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": rest[0], "annotations": []}]}
            deltas = [{"type": "response.output_text.delta", "content_index": 0, "delta": half} for half in halves(rest[0])]
        elif kind == "thinking":
            whole = {"id": name, "type": "reasoning", "summary": [{"type": "summary_text", "text": rest[0]}]}
            deltas = [{"type": "response.reasoning_summary_text.delta", "summary_index": 0, "delta": half} for half in halves(rest[0])]
        else:
            whole = {"id": name, "type": "function_call", "status": "completed", "call_id": rest[0], "name": rest[1], "arguments": json.dumps(rest[2])}
            deltas = [{"type": "response.function_call_arguments.delta", "delta": half} for half in halves(json.dumps(rest[2]))]
        empty = {**whole, **({"status": "in_progress"} if "status" in whole else {}), **({"arguments": ""} if "arguments" in whole else {}),
                 **({"content": []} if "content" in whole else {}), **({"summary": []} if "summary" in whole else {})}
        yield {"type": "response.output_item.added", "output_index": index, "item": empty}
        for delta in deltas:
            yield {**delta, "item_id": name, "output_index": index}
        yield {"type": "response.output_item.done", "output_index": index, "item": whole}
        done.append(whole)
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2, "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    yield {"type": "response.completed", "response": {**head, "status": "completed", "output": done, "usage": usage}}
