"""Codex: a turn of a rollout, and of ``exec --json``."""

import json
from collections.abc import Iterator
from itertools import count

from .contents import ASK, SAID, THOUGHT, TIME, Line, identity, output


def codex(n: int) -> Iterator[Line]:
    """A turn of a rollout of Codex."""
    numbers = count(24 * n)
    turn = identity(n, 0)

    def line(kind: str, **payload: object) -> Line:
        return {"timestamp": TIME, "ordinal": next(numbers), "type": kind, "payload": payload}

    def item(kind: str, **given: object) -> Line:
        made = line("response_item", type=kind, **given, internal_chat_message_metadata_passthrough={"turn_id": turn})
        return {**made, "metadata": {"history_sequence": 5, "sampled_through_sequence": 3, "client_authored": False}}

    def event(kind: str, **given: object) -> Line:
        return line("event_msg", type=kind, **given)

    def done(kind: str, **given: object) -> Line:
        return event(
            "item_completed",
            thread_id=identity(0, 1),
            turn_id=turn,
            item={"type": kind, **given},
            started_at_ms=0,
            completed_at_ms=0,
        )

    def tokens() -> Line:
        usage = {"input_tokens": 20480, "cached_input_tokens": 18432, "output_tokens": 128, "total_tokens": 20608}
        info = {"total_token_usage": usage, "last_token_usage": usage, "model_context_window": 272000}
        limits = {"primary": {"used_percent": 3.0, "window_minutes": 300, "resets_at": 1767225600}, "secondary": None}
        return event("token_count", info=info, rate_limits=limits)

    yield event("task_started", turn_id=turn, model_context_window=272000, collaboration_mode_kind="default")
    yield line(
        "turn_context",
        turn_id=turn,
        cwd="/home/user/project",
        approval_policy="never",
        model="gpt-5-codex",
        sandbox_policy={"type": "danger-full-access"},
        summary="auto",
        effort="medium",
    )
    yield item("message", id=f"msg_{n}", role="user", content=[{"type": "input_text", "text": ASK}])
    yield done("UserMessage", id=identity(n, 1), content=[{"type": "text", "text": ASK, "text_elements": []}])
    thought = [{"type": "summary_text", "text": THOUGHT}]
    yield item("reasoning", id=f"rs_{n}", summary=thought, content=None, encrypted_content="Z0FB" * 200)
    said = [{"type": "output_text", "text": SAID, "annotations": []}]
    yield done("AgentMessage", id=f"item_{n}", content=[{"type": "Text", "text": SAID}])
    yield item("message", id=f"item_{n}", role="assistant", status="completed", content=said)
    for call in range(3):
        own, made = f"call_{n}_{call}", output(n, call)
        arguments = json.dumps({"cmd": "sed -n 1,200p src/parser.py", "yield_time_ms": 30000})
        yield item("function_call", id=f"fc_{n}", name="exec_command", arguments=arguments, call_id=own)
        yield done(
            "CommandExecution",
            id=own,
            process_id="0",
            command=["/bin/bash", "-lc", "sed -n 1,200p src/parser.py"],
            cwd="/home/user/project",
            status="completed",
            aggregated_output=made,
            exit_code=0,
        )
        told = f"Chunk ID: 0\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n{made}"
        yield item("function_call_output", id=f"fco_{n}", call_id=own, output=told)
        yield tokens()
    yield done("AgentMessage", id=f"item_{n}_1", content=[{"type": "Text", "text": SAID}])
    yield item("message", id=f"item_{n}_1", role="assistant", status="completed", content=said)
    yield tokens()
    yield event("task_complete", turn_id=turn, last_agent_message=SAID, duration_ms=4200)


def codex_exec(n: int) -> Iterator[Line]:
    """The same as ``codex exec --json``: a turn is a process of its own as a rule, here they follow each other."""
    yield {"type": "turn.started"}
    yield {"type": "item.completed", "item": {"id": f"i{n}_0", "type": "reasoning", "text": THOUGHT}}
    yield {"type": "item.completed", "item": {"id": f"i{n}_1", "type": "agent_message", "text": SAID}}
    for call in range(3):
        item = {"id": f"i{n}_{2 + call}", "type": "command_execution", "command": "/bin/bash -lc 'make test'"}
        begun = {"aggregated_output": "", "exit_code": None, "status": "in_progress"}
        yield {"type": "item.started", "item": {**item, **begun}}
        ended = {"aggregated_output": output(n, call), "exit_code": 0, "status": "completed"}
        yield {"type": "item.completed", "item": {**item, **ended}}
    yield {"type": "item.completed", "item": {"id": f"i{n}_5", "type": "agent_message", "text": SAID}}
    usage = {"input_tokens": 20480, "cached_input_tokens": 18432, "output_tokens": 128}
    yield {"type": "turn.completed", "usage": usage}
