"""Every exhibit: the one place to add one. Beside its file stands the hunk that mends it, ``NAME.patch``."""

from collections.abc import Mapping
from typing import Final

from .exhibit import Exhibit

EXHIBITS: Final[Mapping[str, Exhibit]] = {
    # how runs end
    "opencode/thinking_for_ever": Exhibit(
        "opencode",
        "anomalyco/opencode#32366",
        "UI stuck on 'thinking' indefinitely after stream error, no error displayed or state recovery",
        "run-never-stuck",
    ),
    "opencode/cancel_forgets_who_waits": Exhibit(
        "opencode",
        "anomalyco/opencode#14222",
        "concurrent prompt race, leaked callbacks, stale busy status",
        "run-never-stuck",
    ),
    "ag_ui/finished_after_error": Exhibit(
        "AG-UI",
        "ag-ui-protocol/ag-ui#1892",
        "ag_ui_adk emits RUN_FINISHED after RUN_ERROR — @ag-ui/client state machine rejects second terminal event",
        "run-ends-once",
        "ag-ui-adk 0.6",
    ),
    "opencode/busy_when_idle": Exhibit(
        "opencode", "anomalyco/opencode#760", "Session is Busy Error Message", "next-message-served"
    ),
    # aborts
    "gen_code/cancelled_tool_goes_on": Exhibit(
        "gen-code",
        "genai-io/gen-code#433",
        "Cancel the tool execution can not stop the agent loop",
        "abort-interrupts",
    ),
    "codegraff/stop_waits_for_the_turn": Exhibit(
        "codegraff", "justrach/codegraff#791", "ACP Stop waits for the active turn to finish", "abort-interrupts"
    ),
    "pi_web/stop_waits_for_the_tool": Exhibit(
        "pi-web",
        "agegr/pi-web#368",
        "Stop button appears dead when a tool call is in flight — session stays 'running' until the tool's own timeout"
        " fires",
        "abort-ends-as-declared",
        "0.8.8-beta.1",
    ),
    "pi/asks_after_stop": Exhibit(
        "pi",
        "earendil-works/pi#8659",
        "One Stop can produce two cancels when a tool is running",
        "nothing-starts-after-abort",
    ),
    "agent_framework/next_tool_after_cancel": Exhibit(
        "Agent Framework",
        "microsoft/agent-framework-go#1076",
        "Next tool still runs after request cancellation",
        "nothing-starts-after-abort",
    ),
    # failures of the model
    "opencode/retries_for_ever": Exhibit(
        "opencode",
        "anomalyco/opencode#49030",
        "cli: provider stream failures retry silently forever - looks like a hang with no console feedback",
        "model-failure-survived",
        "2.0.3",
    ),
    "hermes/dropped_stream_is_a_stop": Exhibit(
        "hermes-agent",
        "NousResearch/hermes-agent#67616",
        "detect text-only stream drops with no finish_reason",
        "model-failure-survived",
    ),
    "buzz/retries_at_once": Exhibit(
        "buzz",
        "block/buzz#5557",
        "buzz-acp: 429s are retried with no backoff (median gap 0.0000s, 20-42/sec) — a transient rate limit becomes a"
        " self-sustaining storm",
        "retries-back-off",
    ),
    "gsd_2/adds_up_the_session": Exhibit(
        "gsd-2",
        "gsd-build/gsd-2#5203",
        "Context-budget watchdog uses cumulative session tokens, fires spurious wrap-up at 200-300%",
        "context-limit-told",
    ),
    # calls and results
    "pydantic_ai/cancelled_call_has_no_return": Exhibit(
        "Pydantic AI",
        "pydantic/pydantic-ai#7977",
        "Run cancellation during the first in-flight tool leaves all_messages() unresumable with a new prompt",
        "calls-answered",
    ),
    "langgraph/tool_error_discards_siblings": Exhibit(
        "LangGraph",
        "langchain-ai/langgraph#7412",
        "Default handle_tool_errors doesn't catch tool execution errors in parallel calls",
        "calls-answered",
    ),
    "mellea/calls_keyed_by_name": Exhibit(
        "Mellea",
        "generative-computing/mellea#1431",
        "Duplicate same-name parallel tool calls collapse to a single execution",
        "calls-answered",
    ),
    "llxprt/cut_call_unanswered": Exhibit(
        "llxprt-code",
        "vybestack/llxprt-code#61",
        "Canceling on o3 (repsonses) while it is callign functions can leave it in an intedeterminant state wrt tool"
        " calls",
        "cut-calls-answered",
    ),
    "smolagents/failure_discards_the_step": Exhibit(
        "smolagents",
        "huggingface/smolagents#2457",
        "Parallel tool call failure discards ALL results including successful ones",
        "results-survive",
    ),
    "omnigent/malformed_becomes_empty": Exhibit(
        "Omnigent",
        "omnigent-ai/omnigent#2587",
        "reject non-object tool arguments in execute_tool",
        "malformed-never-executes",
    ),
    "oh_my_pi/two_calls_of_one_id": Exhibit(
        "oh-my-pi",
        "can1357/oh-my-pi#2055",
        "HTTP 400: tool call result does not follow tool call — when models emit duplicate tool_call_id",
        "ids-never-mixed",
    ),
    "term_llm/serial_is_not_heeded": Exhibit(
        "term-llm",
        "SamSaffron/term-llm#436",
        "server-executed tools ignore ParallelToolCalls=false and always run concurrently",
        "tools-as-declared",
    ),
    # messages
    "claude_code/newest_prompt_drives": Exhibit(
        "Claude Code",
        "anthropics/claude-code#54031",
        "Queued-message ordering is undocumented and appears LIFO in practice",
        "messages-consumed",
    ),
    "minga/steer_after_the_last_poll": Exhibit(
        "Minga",
        "jsmestad/minga#675",
        "drain steering queue at AgentEnd to prevent lost messages",
        "steers-in-their-run",
    ),
    "codex/interrupt_merges_input": Exhibit(
        "Codex",
        "openai/codex#29629",
        "Interrupt can merge queued follow-up input with later composer text into a single next-turn message",
        "follow-ups-in-turn",
        "0.142.0",
    ),
    "openclaw/later_overtakes_steer": Exhibit(
        "OpenClaw",
        "openclaw/openclaw#119794",
        "Message ordering: a later message is delivered before an earlier queued steer (FIFO violation)",
        "messages-in-order",
        "2026.7.1-2",
    ),
    "strands/retry_appends_the_input": Exhibit(
        "Strands Agents",
        "strands-agents/sdk-typescript#687",
        "fix agent retry pass in same arg",
        "messages-in-order",
    ),
    "mimo_code/busy_prompt_is_gone": Exhibit(
        "MiMo Code",
        "XiaomiMiMo/MiMo-Code#2290",
        "accept concurrent prompts while session is busy",
        "busy-as-declared",
        "0.1.13",
    ),
    # what the model is shown
    "gemini_cli/response_parts_missing": Exhibit(
        "Gemini CLI",
        "google-gemini/gemini-cli#5443",
        "400: Please ensure that the number of function response parts...",
        "input-well-formed",
        "0.1.16",
    ),
    "goose/interrupt_pops_results": Exhibit(
        "goose", "aaif-goose/goose#1651", "handle interruptions during tool responses", "input-well-formed"
    ),
    "ag_ui/result_at_the_tail": Exhibit(
        "AG-UI",
        "ag-ui-protocol/ag-ui#1745",
        "align TOOL_CALL_RESULT message_id with ToolMessage id to prevent multi-turn 400",
        "input-well-formed",
    ),
    "openai_agents/session_without_tool_calls": Exhibit(
        "OpenAI Agents SDK",
        "openai/openai-agents-python#2426",
        "Tool-Calls not saved in session",
        "history-whole",
        "0.8.0",
    ),
    "agentscope/interrupt_is_not_saved": Exhibit(
        "AgentScope",
        "agentscope-ai/agentscope-java#1968",
        "[Bug]: Session State Not Saved After Interruption",
        "history-whole",
        "2.0.0-RC4",
    ),
    "nanobot/text_beside_calls": Exhibit(
        "nanobot", "HKUDS/nanobot#5783", "preserve assistant content with tool calls", "history-whole"
    ),
    # items and rounds
    "agent_framework/text_twice": Exhibit(
        "Agent Framework",
        "microsoft/agent-framework#3979",
        "GitHubCopilotAgent produces duplicated text content from both delta and complete message events",
        "history-whole",
    ),
    "mastra/tool_turns_merged": Exhibit(
        "Mastra",
        "mastra-ai/mastra#14126",
        "prevent consecutive tool-only turns from being merged into one",
        "response-is-one-round",
    ),
    "rig/one_turn_too_many": Exhibit(
        "rig",
        "0xPlaygrounds/rig#2091",
        "AgentRun::max_turns(n) permits n+1 turns — document or align the boundary",
        "rounds-bounded",
    ),
    "claude_code/max_turns_is_not_read": Exhibit(
        "Claude Code",
        "anthropics/claude-code#41143",
        "maxTurns frontmatter not enforced on sub-agents — agent runs 72+ turns with maxTurns: 10",
        "rounds-bounded",
    ),
    # sub-agents
    "codex/stop_leaves_sub_agents": Exhibit(
        "Codex",
        "openai/codex#15732",
        "subagents: Stopping the parent agent by interrupting should also stop the subagents",
        "abort-interrupts",
        "26.323.20928",
    ),
    "codex/follow_up_without_payload": Exhibit(
        "Codex",
        "openai/codex#36321",
        "spawn_agent/followup_task/send_message: child agents receive empty task payload (multi-agent v2,"
        " 0.146.0-alpha.9.2)",
        "child-messages-reach",
        "0.146.0-alpha.9.2",
    ),
    # approvals, and tools of the client
    "mastra/decline_executes": Exhibit(
        "Mastra",
        "mastra-ai/mastra#20470",
        "[BUG] declineToolCall() executes the tool it declines",
        "approved-before-executed",
        "1.55.0",
    ),
    "codex/one_approval_for_the_turn": Exhibit(
        "Codex",
        "openai/codex#11162",
        "Fix: update parallel tool call exec approval to approve on request id",
        "approved-before-executed",
    ),
    "openai_agents/approval_in_another_context": Exhibit(
        "OpenAI Agents SDK",
        "openai/openai-agents-python#4244",
        "Tool approval is not honored on resume when `Runner.run` is given a context",
        "run-never-stuck",
    ),
    "ironclaw/denied_call_runs_on": Exhibit(
        "IronClaw",
        "nearai/ironclaw#4764",
        "[Reborn] Denying shell approval leaves tool invocation pending and provides no user feedback",
        "run-never-stuck",
    ),
    "agentscope/recovery_takes_the_approval": Exhibit(
        "AgentScope",
        "agentscope-ai/agentscope-java#2109",
        "prevent pending recovery from consuming HITL approvals",
        "decisions-honoured",
        "2.0.1-SNAPSHOT",
    ),
    "agent_framework/denial_of_a_failed_run": Exhibit(
        "Agent Framework",
        "microsoft/agent-framework#8575",
        "A failed approval-resume run permanently corrupts the session",
        "runs-ask-the-model",
    ),
    "google_adk/pause_before_the_responses": Exhibit(
        "Google ADK",
        "google/adk-python#6732",
        "Parallel ungated tool results are lost across a tool-confirmation pause, yielding an empty model reply after"
        " approval",
        "input-well-formed",
    ),
    "vercel_ai/message_instead_of_a_decision": Exhibit(
        "Vercel AI SDK",
        "vercel/ai#12709",
        '"No tool output found for function call" error when submitting user message while tool call part in'
        " 'approval-requested' state",
        "input-well-formed",
        "6.0.34",
    ),
    "eve/client_tool_must_execute": Exhibit(
        "eve",
        "vercel/eve#203",
        "No way to author a HITL / client-resolved tool: authored tools require `execute`, which yields a duplicate"
        " `tool_result` when the same call parks for input",
        "calls-answered",
    ),
    # restarts, and a store that fails
    "strands/killed_amid_a_tool": Exhibit(
        "Strands Agents",
        "strands-agents/harness-sdk#859",
        "[BUG] Session management fails to resume when previous session ended during tool execution",
        "restart-serves",
        "1.7.1",
    ),
    "openclaw/busy_after_restart": Exhibit(
        "OpenClaw",
        "openclaw/openclaw#92519",
        "[Bug]: Session stuck in permanent busy state after mid-turn gateway restart — no auto-recovery, only /new or"
        " /reset clears it",
        "restart-serves",
    ),
    "openhermit/resumed_with_both": Exhibit(
        "OpenHermit",
        "HCF-STUDIOS/openhermit#109",
        "don't duplicate new user message on first turn after resume",
        "restart-remembers",
    ),
    "nanobot/message_saved_with_its_turn": Exhibit(
        "nanobot", "HKUDS/nanobot#3076", "persist user message before running turn loop", "restart-keeps"
    ),
    "codex/queue_in_memory": Exhibit(
        "Codex",
        "openai/codex#32715",
        "Codex Desktop silently loses queued follow-up messages after restart",
        "restart-serves",
        "26.707.62119",
    ),
    "openclaw/restart_says_it_again": Exhibit(
        "OpenClaw",
        "openclaw/openclaw#80537",
        "Session restart re-injects prior conversation context as new transcript messages → channel re-emits 100s of"
        " historical messages as duplicate live sends",
        "idle-restart-changes-nothing",
    ),
    "kimi_code/one_failure_for_ever": Exhibit(
        "Kimi Code",
        "MoonshotAI/kimi-code#2902",
        "AppendLogStore crashes session with 'storage.disk_full' ENOSPC when wire.jsonl append fails",
        "store-faults",
    ),
    "zero/append_errors_ignored": Exhibit(
        "Zero", "Gitlawb/zero#471", "acp: silent errors in session persistence can lose history", "store-faults"
    ),
    # who listens
    "pi/listener_ends_the_run": Exhibit(
        "pi",
        "earendil-works/pi#8025",
        "agent: one throwing subscribe() listener starves later listeners and fails the entire run",
        "observer-isolated",
    ),
    # projectors
    "assistant_ui/failed_run_is_complete": Exhibit(
        "assistant-ui",
        "assistant-ui/assistant-ui#4382",
        "don't finalize a failed run as successful",
        "one-terminal",
    ),
    "oculith/queued_before_the_reply": Exhibit(
        "Oculith",
        "Reallyeasy1/Oculith#395",
        "queued messages render before the prior run's reply in the chat transcript",
        "one-root",
    ),
    "slicc/results_by_name": Exhibit(
        "slicc",
        "ai-ecoverse/slicc#2306",
        "pair tool results by call id; fill the cluster head k-of-N",
        "results-attached",
    ),
    "agent_framework/one_result_of_a_batch": Exhibit(
        "Agent Framework",
        "microsoft/agent-framework#7980",
        "preserve parallel function_result contents in AG-UI conversion",
        "results-attached",
    ),
}
"""The file in this folder, without its ending → what it shows. In the order of the laws."""
