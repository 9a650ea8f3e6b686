// Record the UI message stream of the AI SDK with a scripted model: node record.mjs OUT
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createUIMessageStream, createUIMessageStreamResponse, jsonSchema, stepCountIs, streamText, tool } from "ai";
import { MockLanguageModelV3 } from "ai/test";

const [out] = process.argv.slice(2);
globalThis.AI_SDK_LOG_WARNINGS = false;
const tick = () => new Promise((resolve) => setImmediate(resolve));
const usage = { inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 1, text: 1, reasoning: 0 } };

// A response is a list of parts of the language model interface, or of functions, called when their turn comes.
const words = (kind, id, text) => [
  { type: `${kind}-start`, id },
  ...text.match(/.{1,7}/gs).map((delta) => ({ type: `${kind}-delta`, id, delta })),
];
const say = (id, text) => [...words("text", id, text), { type: "text-end", id }];
const think = (id, text) => [...words("reasoning", id, text), { type: "reasoning-end", id }];
const call = (id, toolName, input) => [
  { type: "tool-input-start", id, toolName },
  { type: "tool-input-delta", id, delta: JSON.stringify(input) },
  { type: "tool-input-end", id },
  { type: "tool-call", toolCallId: id, toolName, input: JSON.stringify(input) },
];
const finish = (unified) => ({ type: "finish", finishReason: { unified, raw: undefined }, usage });
const stop = finish("stop");
const toolUse = finish("tool-calls");
const rejects = (message) => () => {
  throw new Error(message);
};
const abort = ({ controller }) => controller.abort(new DOMException("The user stopped it.", "AbortError"));

const SCENARIOS = {
  text: { responses: [[...say("t1", "Hello there."), stop]] },
  reasoning: { responses: [[...think("r1", "Greet back."), ...say("t1", "Hello."), stop]] },
  tools: { responses: [[...say("t1", "I look."), ...call("call-1", "read", { path: "a.txt" }), toolUse], [...say("t1", "It says alpha."), stop]] },
  "two-tools": { responses: [[...call("call-1", "read", { path: "a.txt" }), ...call("call-2", "grep", { pattern: "alpha" }), toolUse], [...say("t1", "Line 1."), stop]] },
  "tool-failure": { responses: [[...call("call-1", "deploy", { target: "prod" }), toolUse], [...say("t1", "No access."), stop]] },
  "model-failure-before-text": { refuse: true, responses: [[]] },
  "model-failure-amid-text": { responses: [[...words("text", "t1", "Hello there."), rejects("no credit")]] },
  "abort-amid-text": { responses: [[...words("text", "t1", "Hello there."), abort, stop]] },
  "abort-amid-tool": { responses: [[...call("call-1", "bash", { command: "hang" }), toolUse]], hook: abort },
  "round-limit": { rounds: 1, responses: [[...call("call-1", "read", { path: "a.txt" }), toolUse]] },
  // More than was asked for.
  "error-part-before-text": { responses: [[{ type: "error", error: new Error("no credit") }, finish("error")]] },
  "error-part-amid-text": { responses: [[...words("text", "t1", "Hello there."), { type: "error", error: new Error("no credit") }, finish("error")]] },
  "model-failure-after-tool": { responses: [[...call("call-1", "read", { path: "a.txt" }), toolUse], [...words("text", "t1", "Hello there."), rejects("no credit")]] },
  "model-stream-cut": { responses: [[...words("text", "t1", "Hello there.")]] }, // it ends without its finish part
  "abort-before-text": { responses: [[abort, stop]] },
  "abort-amid-call": { responses: [[...call("call-1", "read", { path: "a.txt" }).slice(0, 2), abort, stop]] },
  "abort-deaf-tool": { responses: [[...call("call-1", "bash", { command: "deaf" }), toolUse], [...say("t1", "Never said."), stop]], hook: abort },
  "abort-two-tools": { responses: [[...call("call-1", "read", { path: "a.txt" }), ...call("call-2", "bash", { command: "hang" }), toolUse]], hook: abort },
  "length-stop": { responses: [[...say("t1", "Hello there."), finish("length")]] },
  "client-tool": { responses: [[...call("call-1", "ask", { question: "Which?" }), toolUse]] },
  "tool-approval": { responses: [[...call("call-1", "write", { path: "a.txt" }), toolUse]] },
  "unknown-tool": { responses: [[...call("call-1", "cat", { path: "a.txt" }), toolUse], [...say("t1", "No such tool."), stop]] },
  "message-id": { options: { originalMessages: [], generateMessageId: () => "message-1" }, responses: [[...say("t1", "Hello."), stop]] },
  "data-part": { data: true, responses: [[...say("t1", "Hello."), stop]] },
};
const ALSO_JSONL = ["tools", "tool-failure", "abort-amid-text"];

function makeModel(scenario, controls) {
  const responses = [...scenario.responses];
  return new MockLanguageModelV3({
    doStream: async ({ abortSignal }) => {
      if (scenario.refuse) throw new Error("no credit");
      const parts = [{ type: "stream-start", warnings: [] }, ...responses.shift()];
      const stream = new ReadableStream({
        async pull(controller) {
          await tick();
          const part = parts.shift();
          try {
            if (typeof part === "function") part(controls);
          } catch (error) {
            return controller.error(error);
          }
          // A fetch whose signal was aborted breaks its body with the signal's reason.
          if (abortSignal?.aborted) return controller.error(abortSignal.reason);
          if (part === undefined) return controller.close();
          if (typeof part !== "function") controller.enqueue(part);
          else return this.pull(controller);
        },
      }, { highWaterMark: 0 });
      return { stream };
    },
  });
}

function makeTools(scenario, controls) {
  const make = (name, rest) => tool({ description: name, inputSchema: jsonSchema({ type: "object", properties: {} }), ...rest });
  return {
    read: make("read", { execute: async () => "alpha" }),
    grep: make("grep", { execute: async () => ["a.txt:1: alpha"] }),
    write: make("write", { needsApproval: true, execute: async () => "written" }),
    deploy: make("deploy", { execute: rejects("no access to prod") }),
    ask: make("ask", {}), // no execute: the client answers
    bash: make("bash", {
      execute: async ({ command }, { abortSignal }) => {
        await tick();
        const aborted = new Promise((_, reject) => abortSignal.addEventListener("abort", () => reject(abortSignal.reason)));
        aborted.catch(() => {}); // the deaf one does not look
        // By a timer, so that all that can be read before the abort has been read.
        setTimeout(() => scenario.hook(controls), 50);
        if (command === "deaf") return new Promise((resolve) => setTimeout(resolve, 100, "done"));
        return aborted;
      },
    }),
  };
}

function start(scenario) {
  const controls = { controller: new AbortController() };
  let id = 0;
  return streamText({
    model: makeModel(scenario, controls),
    tools: makeTools(scenario, controls),
    prompt: "Hi",
    abortSignal: controls.controller.signal,
    stopWhen: stepCountIs(scenario.rounds ?? 5),
    maxRetries: 0,
    onError: () => {}, // the default prints it
    _internal: { generateId: () => `id-${++id}` },
  });
}

function response(scenario) {
  if (!scenario.data) return start(scenario).toUIMessageStreamResponse(scenario.options);
  // The server adds a part of its own, as the documentation has it.
  return createUIMessageStreamResponse({
    stream: createUIMessageStream({
      generateId: () => "message-1",
      execute: ({ writer }) => {
        writer.write({ type: "data-status", id: "status-1", data: { state: "thinking" } });
        writer.merge(start(scenario).toUIMessageStream());
      },
    }),
  });
}

// What a client has read when the body ends or breaks.
async function read(body) {
  const chunks = [];
  try {
    for await (const chunk of body) chunks.push(chunk);
  } catch (error) {
    console.log(`the body broke: ${error.message}`);
  }
  return Buffer.concat(chunks);
}

mkdirSync(out, { recursive: true });
for (const [name, scenario] of Object.entries(SCENARIOS)) {
  writeFileSync(join(out, `${name}.sse`), await read(response(scenario).body));
  if (!ALSO_JSONL.includes(name)) continue;
  let lines = "";
  for await (const chunk of start(scenario).toUIMessageStream()) lines += `${JSON.stringify(chunk)}\n`;
  writeFileSync(join(out, `${name}.jsonl`), lines);
}
