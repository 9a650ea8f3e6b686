"""Record the logs of coding agents with a scripted model on loopback: python record.py claude-code|codex PROGRAM OUT OUT

The first folder gets the session files, the second what the program prints (`--output-format stream-json`, `exec --json`).
Ids, times, durations and paths are replaced by fixed ones, strings over 60 characters are cut, and the payloads of lines that
quote the program's own prompts and tools are emptied: the order and the kinds of the lines, and all that a reader looks at, stay.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from model import FAIL, HANG, Model

PATIENCE = 60
SLOW = "touch started; sleep 40"
TEXT = [("text", "Hello there.")]
SCENARIOS = {
    "text": [TEXT],
    "reasoning": [[("thinking", "Greet back."), *TEXT]],
    "tools": [[("text", "I look at it."), ("call", "call-1", "echo alpha")], [("text", "It says alpha.")]],
    "two-tools": [[("call", "call-1", "echo alpha"), ("call", "call-2", "echo beta")], [("text", "Both.")]],
    "tool-failure": [[("call", "call-1", "exit 3")], [("text", "It failed.")]],
    "unknown-tool": [[("call", "call-1", None)], [("text", "No such tool.")]],
    "model-failure-before-text": [["refuse"]],
    "model-failure-amid-text": [[*TEXT, FAIL]],
    "abort-amid-text": [[*TEXT, HANG]],
    "abort-amid-tool": [[("call", "call-1", SLOW)], TEXT],
    "abort-two-tools": [[("call", "call-1", SLOW), ("call", "call-2", "echo beta")], TEXT],
    "two-prompts": [TEXT, [("text", "And again.")]],
    "steer": [[("call", "call-1", "touch started; sleep 2")], [("text", "Going left.")], [("text", "More.")]],
}
TOOLS = {
    "claude-code": lambda command: ("Nonsense", {"a": 1}) if command is None else ("Bash", {"command": command, "description": "run"}),
    "codex": lambda command: ("nonsense", {"a": 1}) if command is None else ("exec_command", {"cmd": command, "yield_time_ms": 30000}),
}
CONFIG = """model = "scripted"
model_provider = "local"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.local]
name = "local"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "DUMMY_KEY"
requires_openai_auth = false
request_max_retries = 0
stream_max_retries = 0
"""


def script(agent, name):
    return [[(item[0], item[1], *TOOLS[agent](item[2])) if item[0] == "call" else item for item in response] for response in SCENARIOS[name]]


class Agent:
    """One program in a scratch folder, with its model."""

    def __init__(self, agent, program, name, work):
        self.agent, self.program, self.name = agent, program, name
        self.model = Model(script(agent, name))
        self.home, self.cwd = work / "home", work / "cwd"
        self.home.mkdir()
        self.cwd.mkdir()
        (self.home / ".codex").mkdir()
        (self.home / ".codex/config.toml").write_text(CONFIG.format(url=self.model.url))
        self.env = {
            "PATH": os.environ["PATH"], "HOME": str(self.home), "CLAUDE_CONFIG_DIR": str(self.home / ".claude"), "ANTHROPIC_BASE_URL": self.model.url,
            "ANTHROPIC_AUTH_TOKEN": "dummy", "ANTHROPIC_MODEL": "claude-sonnet-4-5", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1", "DISABLE_AUTOUPDATER": "1", "IS_SANDBOX": "1", "CLAUDE_CODE_MAX_RETRIES": "0",
            "CODEX_HOME": str(self.home / ".codex"), "DUMMY_KEY": "x", "NO_BROWSER": "1",
        }

    def run(self):
        """Return the lines of the session file and those that were printed."""
        printed = (self._claude if self.agent == "claude-code" else self._codex)()
        folder = self.home / (".claude/projects" if self.agent == "claude-code" else ".codex/sessions")
        kept = [line for file in sorted(folder.rglob("*.jsonl")) for line in file.read_text().splitlines()]
        self.model.shutdown()
        return kept, printed.splitlines()

    def _start(self, *arguments, stdin=subprocess.DEVNULL):
        return subprocess.Popen([self.program, *arguments], cwd=self.cwd, env=self.env, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def _amid(self):
        """Wait until the model hangs, or the tool runs."""
        end = time.monotonic() + PATIENCE
        while not (self.model.hung.is_set() or (self.cwd / "started").exists()):
            assert time.monotonic() < end, f"{self.name}: never got there"
            time.sleep(0.05)
        time.sleep(0.5)  # what was sent is shown

    def _claude(self):
        options = ["-p", "--output-format", "stream-json", "--verbose", "--allowedTools=Bash"]
        if not (self.name.startswith("abort") or self.name in ("two-prompts", "steer")):
            process = self._start(*options, "Hi")
            return process.communicate(timeout=PATIENCE)[0]
        process = self._start(*options, "--input-format", "stream-json", "--replay-user-messages", stdin=subprocess.PIPE)
        lines = []

        def say(**message):
            process.stdin.write(json.dumps(message) + "\n")
            process.stdin.flush()

        def until(kind):
            for line in process.stdout:
                lines.append(line)
                if json.loads(line).get("type") == kind:
                    return

        say(type="user", message={"role": "user", "content": "Hi"})
        if self.name == "two-prompts":
            until("result")
            say(type="user", message={"role": "user", "content": "Again"})
        else:
            self._amid()
            if self.name == "steer":
                say(type="user", message={"role": "user", "content": "Go left"})
            else:
                say(type="control_request", request_id="interrupt-1", request={"subtype": "interrupt"})
        until("result")
        return "".join(lines) + process.communicate(timeout=PATIENCE)[0]

    def _codex(self):
        options = ["--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]
        process = self._start("exec", *options, "Hi")
        if self.name.startswith("abort"):
            self._amid()
            process.send_signal(signal.SIGINT)
        printed = process.communicate(timeout=PATIENCE)[0]
        if self.name == "two-prompts":
            printed += self._start("exec", "resume", "--last", *options, "Again").communicate(timeout=PATIENCE)[0]
        return printed


UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?")
EMPTIED = {"attachment", "rendered", "shape", "params", "tools", "slash_commands", "skills", "agents", "plugins", "base_instructions", "state", "dynamic_tools",
           "snapshot", "usage", "modelUsage", "rate_limits", "info", "turn_token_usage", "thread_token_usage", "mcp_servers", "terminal", "tool_hints", "message_blob"}
OF_BLOBS = {"api-request-blob", "api-request-shape", "api-request"}


class Fixed:
    """Replaces what differs from run to run, and what is long."""

    def __init__(self, work):
        self.work, self.ids, self.kept = str(work), {}, {}

    def line(self, text):
        value = json.loads(text)
        match value:
            case {"type": "attachment", "attachment": {"type": "queued_command", "prompt": prompt}}:
                self.kept = {"type": "queued_command", "prompt": prompt}
            case {"type": "attachment", "attachment": {"type": kind}}:
                self.kept = {"type": kind}
        if value.get("type") in OF_BLOBS:
            value = {key: inner for key, inner in value.items() if key in ("type", "sessionId", "version")}
        return json.dumps(self.value(value), ensure_ascii=False) + "\n"

    def value(self, value, key=""):
        match value:
            case dict():
                return {name: self.kept if name == "attachment" else {} if name in EMPTIED and isinstance(inner, dict) else [] if name in EMPTIED and isinstance(inner, list) else self.value(inner, name)
                        for name, inner in value.items()}
            case list():
                return [self.value(inner) for inner in value]
            case str():
                return "0" if key == "process_id" else self.text(value)
            case bool() | None:
                return value
            case int() | float():
                return value if isinstance(value, int) and (value < 10 or key == "ordinal") and not re.search("ms|ime|uration|pid|cost", key) else 0
        return value

    def text(self, text):
        text = UUID.sub(lambda found: self.ids.setdefault(found[0], f"00000000-0000-0000-0000-{len(self.ids) + 1:012}"), text)
        text = TIME.sub("2026-01-01T00:00:00.000Z", text).replace(self.work, "/work").replace(self.work.replace("/", "-"), "-work")
        text = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:1", re.sub(r"Wall time: [\d.]+", "Wall time: 0", re.sub(r"Chunk ID: \w+", "Chunk ID: 0", text)))
        return text if len(text) <= 60 else f"{text[:40]}… {len(text) // 100}00 characters"


def main(agent, program, sessions, printed):
    for folder in (sessions, printed):
        Path(folder).mkdir(parents=True, exist_ok=True)
    for name in SCENARIOS:
        if agent == "codex" and name == "steer":
            continue  # `codex exec` takes no message during a run
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as work:
            kept, shown = Agent(agent, program, name, Path(work)).run()
            fixed = Fixed(work)
            for folder, lines in ((sessions, kept), (printed, shown)):
                Path(folder, f"{name}.jsonl").write_text("".join(map(fixed.line, lines)))
        print(name, len(kept), len(shown), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
