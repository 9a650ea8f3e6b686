// The part that both adapters of pi share: its packages, the scripted model, and how what is shown and said is told.
import { rawArguments } from "../../kit/turncheck_kit.mjs";
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
/** Import a file of one of pi's packages. */
export const load = (path) => import(pathToFileURL(join(folder, scope, path)));
const { version } = JSON.parse(readFileSync(join(folder, scope, "pi-agent-core/package.json"), "utf8"));
export const core = await load("pi-agent-core/dist/index.js");
export const implementation = { name: `${scope}/pi-agent-core`, version, language: "javascript" };
const { createAssistantMessageEventStream, parseStreamingJson } = await load("pi-ai/dist/index.js");
// All providers of pi-ai send this function's version of the context: it leaves out failed and aborted responses, and
// answers calls without a result. It moved between the two versions.
const transform = ["providers", "api"]
  .map((name) => `pi-ai/dist/${name}/transform-messages.js`)
  .find((path) => existsSync(join(folder, scope, path)));
const { transformMessages } = await load(transform);

export const MODEL = {
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
const LENGTH = { ...USAGE, output: MODEL.maxTokens, totalTokens: 1 + MODEL.maxTokens }; // of a response that reached its limit
const STOPS = { "end-turn": "stop", "tool-use": "toolUse", length: "length" };

const SYSTEM = "Be brief.";
/** What both can do. */
export const CAPABILITIES = [
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
];
/** The Agent's policies; the harness says which of its own differ. */
export const POLICIES = {
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
  resultOrder: "as-called", // agent-loop.js: orderedFinalizedCalls; harness/runtime/drive/tool-placement.js
  failures: "marked",
  adjacent: "apart",
  steerHandover: "one", // agent.js: steeringMode and followUpMode are "one-at-a-time" where nobody says otherwise
  followUpHandover: "one",
  maxResultCharacters: null, // what its coding agent cuts, the tools cut themselves
};
const CHOICES = { tools: ["parallel", "serial"], steerHandover: ["one", "all"], followUpHandover: ["one", "all"] };
const MODES = { one: "one-at-a-time", all: "all" };

/** Refuse what *policies*, those of the profile, do not have of the options; return what pi calls the others. */
export function settings(env, policies) {
  for (const [name, value] of Object.entries(env.options.policies)) {
    const has = CHOICES[name] ?? [policies[name]];
    if (!has.includes(value)) env.refuse("unsupported", `policies.${name}: pi has ${has.join(" and ")}, not ${value}`);
  }
  const { tools, steerHandover, followUpHandover } = { ...policies, ...env.options.policies };
  return {
    systemPrompt: SYSTEM,
    steeringMode: MODES[steerHandover],
    followUpMode: MODES[followUpHandover],
    toolExecution: tools === "serial" ? "sequential" : "parallel",
  };
}

/** Return a tool that waits for its output; *run* calls it. */
export const tool = ({ name, schema }, execute) => ({
  ...{ name, label: name, description: name, parameters: schema ?? { type: "object", properties: {} } },
  execute,
});

/** Return a tool's output as pi's result of it. */
export const resultOf = (output) => ({
  content: [{ type: "text", text: typeof output === "string" ? output : JSON.stringify(output ?? null) }],
  details: { output },
});

/** Return the event of the log for pi's end of a tool. */
export function toolResult(callId, isError, result = {}) {
  const output =
    isError || !result.details || !("output" in result.details) ? textOf(result.content) : result.details.output;
  return { type: "tool-result", callId, output, isError: isError || undefined };
}

/** Return the event of the log for an item's end, which shows it whole; undefined for all other updates, or none. */
export function itemOf(update = {}, responseId = undefined) {
  const event = { type: "agent-output", responseId };
  if (update.type === "text_end") return { ...event, kind: "assistant", text: update.content };
  if (update.type === "thinking_end") return { ...event, kind: "reasoning", text: update.content };
  if (update.type !== "toolcall_end") return undefined;
  const { id: callId, name, arguments: args } = update.toolCall;
  return { ...event, kind: "tool-call", callId, tool: name, arguments: args };
}

/** Return the text of a message or a result; undefined where pi gives no content: then a law tells, and no exception here. */
const textOf = (content) =>
  Array.isArray(content) ? content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n") : content;

/** Return the context that the model is shown, as {role, text or callId} entries. */
export function shown(context) {
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

/** Return a stream of the scripted items as pi-ai's providers give one; *words* are what the provider says of failures. */
export function play(request, signal, words = {}) {
  const stream = createAssistantMessageEventStream();
  void push(stream, request, signal, words);
  return stream;
}

/** Push the scripted items as pi-ai's providers do: `partial` is one object that grows; a failure is an `error` event. */
async function push(stream, request, signal, words) {
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
  const tell = (type, more) => stream.push({ type, ...more, partial: message });
  const start = () => {
    if (!started) tell("start");
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
        tell("toolcall_start", { contentIndex });
        toolCall.arguments = parseStreamingJson(text); // as each provider parses the model's text
        tell("toolcall_delta", { contentIndex, delta: text });
        tell("toolcall_end", { contentIndex, toolCall });
      } else {
        const kind = item.kind === "assistant" ? "text" : "thinking";
        const part = { type: kind, [kind]: "" };
        message.content.push(part);
        tell(`${kind}_start`, { contentIndex });
        part[kind] = item.text;
        tell(`${kind}_delta`, { contentIndex, delta: item.text });
        tell(`${kind}_end`, { contentIndex, content: item.text });
      }
    }
    start();
    message.stopReason = STOPS[request.reason];
    if (request.reason === "length") message.usage = LENGTH;
    stream.push({ type: "done", reason: message.stopReason, message });
  } catch (error) {
    if (error.kind === "stream") start();
    message.stopReason = signal?.aborted ? "aborted" : "error";
    message.errorMessage = words[error.kind] ?? error.message;
    stream.push({ type: "error", reason: message.stopReason, error: message });
  }
  stream.end();
}
