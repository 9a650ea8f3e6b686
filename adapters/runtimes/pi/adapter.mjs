// pi's Agent (pi-agent-core), version 0.73.1 or 0.87.1: the one in node_modules under the folder TURNCHECK_ENVIRONMENT.
// pi's caller decides whether a message is a prompt, a steer or a follow-up: idle, it is a prompt; active, its delivery
// decides, and without one it is a prompt, which pi rejects.
import { rawArguments, serve } from "../../kit/turncheck_kit.mjs";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const SCOPES = ["@earendil-works", "@mariozechner"];
const folder = join(process.env.TURNCHECK_ENVIRONMENT ?? ".", "node_modules");
const scope = SCOPES.find((name) => existsSync(join(folder, name, "pi-agent-core")));
if (!scope) {
  console.error(
    `no pi in ${folder}: TURNCHECK_ENVIRONMENT must be a folder in which npm installed ${SCOPES.join(" or ")}/pi-agent-core`,
  );
  process.exit(2);
}
const load = (path) => import(pathToFileURL(join(folder, scope, path)));
const { version } = JSON.parse(readFileSync(join(folder, scope, "pi-agent-core/package.json"), "utf8"));
const { Agent } = await load("pi-agent-core/dist/index.js");
const { createAssistantMessageEventStream, parseStreamingJson } = await load("pi-ai/dist/index.js");
// All providers of pi-ai send this function's version of the context: it leaves out failed and aborted responses, and
// answers calls without a result. It moved between the two versions.
const transform = ["providers", "api"]
  .map((name) => `pi-ai/dist/${name}/transform-messages.js`)
  .find((path) => existsSync(join(folder, scope, path)));
const { transformMessages } = await load(transform);

const MODEL = {
  id: "scripted",
  name: "scripted",
  api: "openai-completions",
  provider: "openai",
  baseUrl: "http://127.0.0.1:9",
  reasoning: true,
  input: ["text"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 100000,
  maxTokens: 1000,
};
const USAGE = {
  input: 1,
  output: 1,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 2,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};
const SYSTEM = "Be brief.";
const POLICIES = {
  system: SYSTEM,
  busy: "reject",
  tools: "parallel",
  steerLands: "after-batch",
  abortEnds: "when-released",
  retries: 0,
  queueAfterInterrupted: "hold",
  queueAfterError: "hold",
  abortedResponse: "drop", // transform-messages.js: "Skip errored/aborted assistant messages entirely"
  failedResponse: "drop",
  unread: "later", // agent-loop.js asks for steers before a run's first request too
  itemOrder: "as-said",
  resultOrder: "as-called", // agent-loop.js: orderedFinalizedCalls
  failures: "marked",
  adjacent: "apart",
  steerHandover: "one", // agent.js: steeringMode and followUpMode are "one-at-a-time" where nobody says otherwise
  followUpHandover: "one",
  maxResultCharacters: null, // what its coding agent cuts, the tools cut themselves
};
const CHOICES = { tools: ["parallel", "serial"], steerHandover: ["one", "all"], followUpHandover: ["one", "all"] };
const MODES = { one: "one-at-a-time", all: "all" };
const STOPS = { "end-turn": "stop", "tool-use": "toolUse", length: "length" };

/** Return the text of a message or a result; undefined where pi gives no content: then a law tells, and no exception here. */
const textOf = (content) =>
  Array.isArray(content) ? content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n") : content;

/** Return the context that the model is shown, as {role, text or callId} entries. */
function shown(context) {
  const entries = context.systemPrompt ? [{ role: "system", text: context.systemPrompt }] : [];
  for (const message of transformMessages(context.messages, MODEL, (id) => id)) {
    if (message.role === "toolResult") {
      entries.push({
        role: "tool",
        callId: message.toolCallId,
        text: textOf(message.content),
        isError: message.isError,
      });
    } else if (message.role === "assistant") {
      for (const part of message.content) {
        if (part.type === "text") entries.push({ role: "assistant", text: part.text });
        if (part.type === "toolCall") {
          const { id, name, arguments: given } = part;
          entries.push({ role: "assistant", callId: id, tool: name, arguments: given });
        }
      }
    } else entries.push({ role: message.role, text: textOf(message.content) });
  }
  return entries;
}

/** Push the scripted items as pi-ai's providers do: `partial` is one object that grows; a failure is an `error` event. */
async function play(stream, request, signal) {
  const message = {
    role: "assistant",
    content: [],
    api: MODEL.api,
    provider: MODEL.provider,
    model: MODEL.id,
    usage: USAGE,
    stopReason: "stop",
    timestamp: Date.now(),
  };
  let started = false;
  const push = (type, more) => stream.push({ type, ...more, partial: message });
  const start = () => {
    if (!started) push("start");
    started = true;
  };
  try {
    for await (const item of request) {
      start();
      const contentIndex = message.content.length;
      if (item.kind === "tool-call") {
        const text = rawArguments(item);
        const toolCall = { type: "toolCall", id: item.callId, name: item.tool, arguments: {} };
        message.content.push(toolCall);
        push("toolcall_start", { contentIndex });
        toolCall.arguments = parseStreamingJson(text); // as each provider parses the model's text
        push("toolcall_delta", { contentIndex, delta: text });
        push("toolcall_end", { contentIndex, toolCall });
      } else {
        const kind = item.kind === "assistant" ? "text" : "thinking";
        const part = { type: kind, [kind]: "" };
        message.content.push(part);
        push(`${kind}_start`, { contentIndex });
        part[kind] = item.text;
        push(`${kind}_delta`, { contentIndex, delta: item.text });
        push(`${kind}_end`, { contentIndex, content: item.text });
      }
    }
    start();
    message.stopReason = STOPS[request.reason];
    stream.push({ type: "done", reason: message.stopReason, message });
  } catch (error) {
    if (error.kind === "stream") start();
    message.stopReason = signal?.aborted ? "aborted" : "error";
    message.errorMessage = error.message;
    stream.push({ type: "error", reason: message.stopReason, error: message });
  }
  stream.end();
}

class Session {
  deliveries = new Map(); // of each message that pi holds, by the object given to it
  active = false; // a cycle is under way: its run-stop is not yet logged
  responseId = undefined;

  constructor(env, sessionId) {
    this.env = env;
    this.sessionId = sessionId;
    this.agent = new Agent({
      initialState: {
        systemPrompt: SYSTEM,
        model: MODEL,
        tools: env.options.tools.map((tool) => this.tool(tool)),
      },
      streamFn: (_model, context, { signal }) => this.stream(context, signal),
      steeringMode: MODES[env.options.policies.steerHandover],
      followUpMode: MODES[env.options.policies.followUpHandover],
      toolExecution: env.options.policies.tools === "serial" ? "sequential" : "parallel",
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
    const stream = createAssistantMessageEventStream();
    void play(stream, request, signal);
    return stream;
  }

  tool({ name, schema }) {
    const execute = async (callId, args, signal) => {
      const output = await this.env.tool(callId, name, args, { signal, sessionId: this.sessionId });
      return {
        content: [{ type: "text", text: typeof output === "string" ? output : JSON.stringify(output ?? null) }],
        details: { output },
      };
    };
    return { name, label: name, description: name, parameters: schema ?? { type: "object", properties: {} }, execute };
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
    return agent.prompt(message).catch((error) => this.stop("error", error.message, { source: "adapter", via: "exception" }));
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
      case "message_update":
        this.update(event.assistantMessageEvent);
        break;
      case "tool_execution_start":
        this.log({ type: "native", name: event.type, callId: event.toolCallId });
        break;
      case "tool_execution_end": {
        const { toolCallId: callId, result = {}, isError } = event;
        const output =
          isError || !result.details || !("output" in result.details) ? textOf(result.content) : result.details.output;
        this.log({ type: "tool-result", callId, output, isError: isError || undefined });
        break;
      }
      case "agent_end": {
        // agent_end has no status; the last assistant message has one.
        const { stopReason, errorMessage } = event.messages.findLast((message) => message.role === "assistant") ?? {};
        this.stop({ error: "error", aborted: "interrupted" }[stopReason] ?? "completed", errorMessage);
        break;
      }
      default:
    }
  }

  /** An item's end event shows it whole. */
  update(event) {
    const { responseId } = this;
    if (event.type === "text_end")
      this.log({ type: "agent-output", kind: "assistant", text: event.content, responseId });
    if (event.type === "thinking_end")
      this.log({ type: "agent-output", kind: "reasoning", text: event.content, responseId });
    if (event.type === "toolcall_end") {
      const { id: callId, name: tool, arguments: args } = event.toolCall;
      this.log({ type: "agent-output", kind: "tool-call", callId, tool, arguments: args, responseId });
    }
  }
}

serve({
  implementation: { name: `${scope}/pi-agent-core`, version, language: "javascript" },
  profile: {
    capabilities: [
      "steer",
      "follow-up",
      "abort",
      "tools",
      "serial",
      "tool-failure",
      "model-failure",
      "reasoning",
      "model-input",
      "raw-arguments",
      "call-ids",
      "sessions",
      "together",
      "observer",
      "deaf",
      "clock",
      "terminal-events",
    ],
    policies: POLICIES,
  },
  reset(env) {
    for (const [name, value] of Object.entries(env.options.policies)) {
      const has = CHOICES[name] ?? [POLICIES[name]];
      if (!has.includes(value))
        env.refuse("unsupported", `policies.${name}: pi has ${has.join(" and ")}, not ${value}`);
    }
    const sessions = new Map();
    this.session = ({ sessionId }) => {
      if (!sessions.has(sessionId)) sessions.set(sessionId, new Session(env, sessionId));
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
