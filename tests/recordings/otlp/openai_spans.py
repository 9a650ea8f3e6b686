"""Record the spans of an application's own loop around the `openai` package, as OpenInference's instrumentation writes
them: python openai_spans.py OUT

The agent and its tools are spans of OpenInference's decorators, the requests those of its instrumentation of the package.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from openai import OpenAI
from openinference.instrumentation import OITracer, TraceConfig, using_session
from openinference.instrumentation.openai import OpenAIInstrumentor
from spans import tidied, traced

READ = {"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}


def said(text):
    return {"role": "assistant", "content": text}, "stop"


def asked(*calls):
    made = [
        {"id": own, "type": "function", "function": {"name": tool, "arguments": '{"path": "a.txt"}'}} for own, tool in calls
    ]
    return {"role": "assistant", "content": None, "tool_calls": made}, "tool_calls"


ONE, TWO = ("call-1", "read"), ("call-2", "read")
# name -> the model's responses; a number is a status of an error
SCENARIOS = {
    "text": [said("Hello there.")],
    "tools": [asked(ONE), said("It says alpha.")],
    "two-tools": [asked(ONE, TWO), said("Both say alpha.")],
    "tool-failure": [asked(("call-1", "deploy"))],
    "model-failure-before-text": [500],
    # More than was asked for.
    "tool-without-a-result": [asked(ONE, TWO), said("It says alpha.")],
    "no-agent": [asked(ONE), said("It says alpha.")],
    "no-agent-no-tools": [asked(ONE), said("It says alpha."), said("Bye.")],
}


class Model(BaseHTTPRequestHandler):
    script = iter(())

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        given = next(Model.script)
        status, body = (given, {"error": {"message": "no credit"}}) if isinstance(given, int) else (200, _completion(*given))
        sent = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *_):
        pass


def _completion(message, finish):
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return {"id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": "scripted", "choices": [choice]}


def loop(name, client, tracer):
    """What an application writes: ask, run the tools, ask again."""
    messages = [{"role": "user", "content": "Hi"}]

    def read():
        return "alpha"

    def deploy():
        raise RuntimeError("no access to prod")

    tools = {"read": read, "deploy": deploy}
    if "no-tools" not in name:
        tools = {tool: tracer.tool(name=tool)(function) for tool, function in tools.items()}
    while True:
        answer = client.chat.completions.create(model="scripted", messages=messages, tools=[READ]).choices[0].message
        messages.append(answer.model_dump(exclude_none=True))
        for call in answer.tool_calls or ():
            if not (name == "tool-without-a-result" and call.id == "call-2"):
                result = tools[call.function.name]()
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
        if not answer.tool_calls:
            return messages


def run(name, client, tracer):
    if not name.startswith("no-agent"):
        return tracer.agent(name="agent")(lambda: loop(name, client, tracer)[-1]["content"])()
    with tracer.start_as_current_span("POST /chat"), using_session("session-1"):
        messages = loop(name, client, tracer)
        if name == "no-agent-no-tools":
            asked = [*messages, {"role": "user", "content": "Bye"}]
            client.chat.completions.create(model="scripted", messages=asked)
        return None


def main(out):
    out.mkdir(parents=True, exist_ok=True)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_port}"
    for name, responses in SCENARIOS.items():
        provider, written = traced()
        instrumentor = OpenAIInstrumentor()
        instrumentor.instrument(tracer_provider=provider)
        Model.script = iter(responses)
        tracer = OITracer(provider.get_tracer("app"), TraceConfig())
        try:
            run(name, OpenAI(api_key="none", base_url=base, max_retries=0), tracer)
        except Exception as error:
            print(f"{name}: {error}", file=sys.stderr)
        instrumentor.uninstrument()
        (out / f"{name}.jsonl").write_text(tidied(written.getvalue()).replace(base, "http://127.0.0.1"))
    server.shutdown()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
