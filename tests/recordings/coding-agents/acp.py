"""Record the JSON-RPC transcript between an ACP client and codex-acp, with the scripted model: python acp.py PROGRAM OUT

Each message of either side is one line, in the order in which the client wrote or read it.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from threading import Thread

from record import EMPTIED, SCENARIOS, Agent, Fixed

EMPTIED -= {"params"}
PATIENCE = 60
NAMES = ("text", "reasoning", "tools", "two-tools", "tool-failure", "unknown-tool", "model-failure-before-text", "abort-amid-text", "abort-amid-tool", "two-prompts")


class Client:
    """An ACP client that allows whatever it is asked for."""

    def __init__(self, agent):
        self.agent, self.lines, self.number, self.answers = agent, [], 0, {}
        self.process = subprocess.Popen([agent.program, "-c", "approval_policy=never", "-c", "sandbox_mode=danger-full-access"], cwd=agent.cwd, env=agent.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line)
            message = json.loads(line)
            if "method" in message and "id" in message:
                option = message["params"]["options"][0]["optionId"]
                self._write({"id": message["id"], "result": {"outcome": {"outcome": "selected", "optionId": option}}})
            elif "id" in message:
                self.answers[message["id"]] = message

    def _write(self, message):
        line = json.dumps({"jsonrpc": "2.0", **message}) + "\n"
        self.lines.append(line)
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def notify(self, method, **params):
        self._write({"method": method, "params": params})

    def ask(self, method, wait=True, **params):
        self.number += 1
        self._write({"id": self.number, "method": method, "params": params})
        return self.wait(self.number) if wait else self.number

    def wait(self, number):
        end = time.monotonic() + PATIENCE
        while number not in self.answers:
            assert time.monotonic() < end, "no answer"
            time.sleep(0.02)
        return self.answers[number]


def record(program, name, work):
    agent = Agent("codex", program, name, work)
    client = Client(agent)
    client.ask("initialize", protocolVersion=1, clientCapabilities={})
    session = client.ask("session/new", cwd=str(agent.cwd), mcpServers=[])["result"]["sessionId"]
    prompt = {"sessionId": session, "prompt": [{"type": "text", "text": "Hi"}]}
    number = client.ask("session/prompt", wait=False, **prompt)
    if name.startswith("abort"):
        agent._amid()
        client.notify("session/cancel", sessionId=session)
    client.wait(number)
    time.sleep(3 if name.startswith("abort") else 0.3)  # what comes after the answer
    if name == "two-prompts":
        client.ask("session/prompt", **prompt)
    client.process.stdin.close()
    client.process.terminate()
    client.process.wait(PATIENCE)
    return client.lines


def main(program, out):
    Path(out).mkdir(parents=True, exist_ok=True)
    for name in NAMES:
        assert name in SCENARIOS
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as work:
            lines = record(program, name, Path(work))
            Path(out, f"{name}.jsonl").write_text("".join(map(Fixed(work).line, lines)))
        print(name, len(lines), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
