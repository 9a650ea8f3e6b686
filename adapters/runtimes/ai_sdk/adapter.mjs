// The AI SDK's streamText, version 6.
// streamText has no session: the code around it here is the chat server of its documentation. The messages are the
// caller's; response.messages are appended to them in onFinish ("Response Messages" in "Tool Calling"), which also runs
// after an abort, with the steps finished by then. One response at a time: meanwhile, this server rejects messages; the
// SDK has no rule for that. A stop button aborts the response's signal.
import { serve } from "../../kit/turncheck_kit.mjs";
import { ai, scriptedModel, textOf, version } from "./model.mjs";

const { jsonSchema, stepCountIs, streamText, tool } = ai;

const MAX_ROUNDS = 20; // the default of its ToolLoopAgent; that of streamText is one step, which answers no tool result
const RETRIES = 2; // streamText's default
const POLICIES = {
  busy: "reject",
  tools: "parallel",
  abortEnds: "when-released",
  retries: RETRIES,
  maxRounds: MAX_ROUNDS,
  abortedResponse: "drop-with-calls", // response.messages are those of finished steps
  failedResponse: "drop",
  itemOrder: "as-said", // to-response-messages.ts
  resultOrder: "as-called", // to-response-messages.ts: toolCallOrder
  failures: "marked",
  adjacent: "apart",
  maxResultCharacters: null,
};

class Session {
  messages = [];
  controller = undefined; // of the response under way

  constructor(env, sessionId) {
    this.env = env;
    this.sessionId = sessionId;
    this.tools = Object.fromEntries(env.options.tools.map((each) => [each.name, this.tool(each)]));
  }

  log(event, how) {
    this.env.log({ ...event, sessionId: this.sessionId }, how);
  }

  tool({ name, schema }) {
    return tool({
      description: name,
      inputSchema: jsonSchema(schema ?? { type: "object", properties: {} }),
      execute: (input, { toolCallId, abortSignal }) =>
        this.env.tool(toolCallId, name, input, { signal: abortSignal, sessionId: this.sessionId }),
    });
  }

  user({ id, text, delivery }) {
    if (this.controller) {
      if (delivery) return this.env.refuse("unsupported", `streamText takes no message during a run: ${delivery}`);
      return this.env.refuse("rejected", "a response is under way");
    }
    this.log({ type: "user-message", id, text, delivery });
    this.messages.push({ role: "user", content: text });
    return this.respond();
  }

  abort() {
    this.controller?.abort(new DOMException("The user stopped it.", "AbortError"));
  }

  async respond() {
    const { env } = this;
    this.controller = new AbortController();
    this.answered = []; // the requests whose answers have begun, and whose step has not
    this.stopped = false;
    this.error = undefined;
    try {
      const result = streamText({
        model: scriptedModel(
          (context, signal) => env.model(context, { signal, sessionId: this.sessionId }),
          (requestId) => this.answered.push(requestId),
        ),
        system: "Be brief.",
        messages: [...this.messages],
        tools: this.tools,
        stopWhen: stepCountIs(env.options.limits.maxRounds ?? MAX_ROUNDS),
        maxRetries: RETRIES,
        abortSignal: this.controller.signal,
        onFinish: ({ response }) => void this.messages.push(...response.messages),
        onError: () => env.observe(), // the default prints it
        onChunk: () => env.observe(),
        onStepFinish: () => env.observe(),
      });
      for await (const part of result.fullStream) this.read(part);
      if (this.error !== undefined) this.stop("error", this.error);
      else if (!this.stopped)
        this.stop("error", "the stream ended without a terminal", { source: "adapter", via: "close" });
    } catch (error) {
      // The stream broke under its consumer.
      this.log({ type: "run-stop", reason: "error", detail: error.message }, { source: "adapter", via: "exception" });
      this.stopped = true;
    }
    this.controller = undefined;
  }

  /** The first terminal part counts: a finish may follow an error part, or only the stream's end. */
  stop(reason, detail, how) {
    if (!this.stopped) this.log({ type: "run-stop", reason, detail }, how);
    this.stopped = true;
  }

  /** An error here is the adapter's failure, not the stream's. */
  read(part) {
    try {
      this.hear(part);
    } catch (error) {
      this.env.fail(error);
    }
  }

  hear(part) {
    const { responseId } = this;
    const kinds = { text: "assistant", reasoning: "reasoning" };
    const [family, phase] = part.type.split("-");
    if (family in kinds) {
      // A text is one item, shown whole at its end.
      if (phase === "start") this.text = "";
      if (phase === "delta") this.text += part.text;
      if (phase === "end") this.log({ type: "agent-output", kind: kinds[family], text: this.text, responseId });
      return;
    }
    switch (part.type) {
      case "start-step":
        this.responseId = this.answered.shift();
        break;
      case "tool-call":
        this.log({
          type: "agent-output",
          kind: "tool-call",
          callId: part.toolCallId,
          tool: part.toolName,
          arguments: part.input,
          responseId,
        });
        break;
      case "tool-result":
        this.log({ type: "tool-result", callId: part.toolCallId, output: part.output });
        break;
      case "tool-error": // from a failed tool, an unknown one, or wrong input
        this.log({
          type: "tool-result",
          callId: part.toolCallId,
          output: part.error?.message ?? textOf(part.error),
          isError: true,
        });
        break;
      case "error":
        this.error = part.error?.message ?? textOf(part.error);
        break;
      case "finish":
        this.stop(part.finishReason === "error" ? "error" : "completed", this.error ?? part.finishReason);
        break;
      case "abort":
        this.stop("interrupted", part.reason);
        break;
      default:
    }
  }
}

serve({
  implementation: { name: "ai", version, language: "javascript", homepage: "https://ai-sdk.dev" },
  profile: {
    capabilities: [
      "abort",
      "tools",
      "tool-failure",
      "model-failure",
      "reasoning",
      "model-input",
      "raw-arguments",
      "call-ids",
      "sessions",
      "together",
      "limits",
      "observer",
      "deaf",
      "clock",
    ],
    policies: POLICIES,
  },
  reset(env) {
    for (const [name, value] of Object.entries(env.options.policies)) {
      if (value !== POLICIES[name])
        env.refuse("unsupported", `policies.${name}: this has ${POLICIES[name] ?? "none"}, not ${value}`);
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
    this.session(stimulus).abort();
  },
});
