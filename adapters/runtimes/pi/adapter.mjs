// pi's Agent (pi-agent-core), version 0.73.1 or 0.87.1: the one in node_modules under the folder TURNCHECK_ENVIRONMENT.
// pi's caller decides whether a message is a prompt, a steer or a follow-up: idle, it is a prompt; active, its delivery
// decides, and without one it is a prompt, which pi rejects.
import { serve } from "../../kit/turncheck_kit.mjs";
import {
  CAPABILITIES,
  MODEL,
  POLICIES,
  core,
  implementation,
  itemOf,
  play,
  resultOf,
  settings,
  shown,
  tool,
  toolResult,
} from "./scripted.mjs";

class Session {
  deliveries = new Map(); // of each message that pi holds, by the object given to it
  active = false; // a cycle is under way: its run-stop is not yet logged
  responseId = undefined;

  constructor(env, sessionId, { systemPrompt, ...modes }) {
    this.env = env;
    this.sessionId = sessionId;
    this.agent = new core.Agent({
      initialState: {
        systemPrompt,
        model: MODEL,
        tools: env.options.tools.map((declared) => this.tool(declared)),
      },
      streamFn: (_model, context, { signal }) => this.stream(context, signal),
      ...modes,
    });
    this.agent.subscribe((event) => this.listen(event));
    this.agent.subscribe(() => env.observe());
  }

  log(event, how) {
    this.env.log({ ...event, sessionId: this.sessionId }, how);
  }

  stream(context, signal) {
    const request = this.env.model(shown(context), { signal, sessionId: this.sessionId });
    this.responseId = request.id;
    return play(request, signal);
  }

  tool(declared) {
    return tool(declared, async (callId, args, signal) =>
      resultOf(await this.env.tool(callId, declared.name, args, { signal, sessionId: this.sessionId })),
    );
  }

  user({ id, text, delivery }) {
    const { agent } = this;
    const message = { role: "user", content: [{ type: "text", text }], timestamp: Date.now() };
    const busy = agent.signal !== undefined; // documented: "active abort signal for the current run, if any"
    if (busy && !delivery) return agent.prompt(message).catch((error) => this.env.refuse("rejected", error.message));
    this.log({ type: "user-message", id, text, delivery });
    this.deliveries.set(message, busy ? delivery : "direct");
    if (busy) return delivery === "steer" ? agent.steer(message) : agent.followUp(message);
    this.active = true;
    // It rejects if a listener throws; agent_end may have been emitted before that, or not at all.
    return agent
      .prompt(message)
      .catch((error) => this.stop("error", error.message, { source: "adapter", via: "exception" }));
  }

  stop(reason, detail, how) {
    if (this.active) this.log({ type: "run-stop", reason, detail }, how);
    else this.log({ type: "native", name: "prompt-rejected", message: detail });
    this.active = false;
  }

  /** A listener's exception would count as pi's: an error here is the adapter's failure. */
  listen(event) {
    try {
      this.hear(event);
    } catch (error) {
      this.env.fail(error);
    }
  }

  hear(event) {
    switch (event.type) {
      case "message_start":
        // One agent run answers its follow-ups too: the cycle before is over when one is taken.
        if (this.deliveries.get(event.message) === "followUp") {
          this.stop("completed", undefined, { source: "adapter" });
          this.active = true;
        }
        break;
      case "message_update": {
        const item = itemOf(event.assistantMessageEvent, this.responseId);
        if (item) this.log(item);
        break;
      }
      case "tool_execution_start":
        this.log({ type: "native", name: event.type, callId: event.toolCallId });
        break;
      case "tool_execution_end":
        this.log(toolResult(event.toolCallId, event.isError, event.result));
        break;
      case "agent_end": {
        // agent_end has no status; the last assistant message has one.
        const { stopReason, errorMessage } = event.messages?.findLast((message) => message.role === "assistant") ?? {};
        this.stop({ error: "error", aborted: "interrupted" }[stopReason] ?? "completed", errorMessage);
        break;
      }
      default:
    }
  }
}

serve({
  implementation,
  profile: {
    capabilities: CAPABILITIES,
    policies: POLICIES,
  },
  reset(env) {
    const given = settings(env, POLICIES);
    const sessions = new Map();
    this.session = ({ sessionId }) => {
      if (!sessions.has(sessionId)) sessions.set(sessionId, new Session(env, sessionId, given));
      return sessions.get(sessionId);
    };
  },
  user(message) {
    return this.session(message).user(message);
  },
  abort(stimulus) {
    this.session(stimulus).agent.abort();
  },
});
