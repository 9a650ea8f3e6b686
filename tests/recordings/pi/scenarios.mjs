// The scripted model, the tools and the scenarios, shared by the two recorders of pi.
// A scenario is {prompts, responses, ...}; a response is a list of steps, played one per turn of the event loop, as a network would.
const USAGE = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } };
const tick = () => new Promise((resolve) => setImmediate(resolve));

export const MODEL = {
  id: "scripted", name: "scripted", api: "openai-completions", provider: "openai", baseUrl: "http://127.0.0.1:9", reasoning: true,
  input: ["text"], cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, contextWindow: 100000, maxTokens: 1000,
};

const say = (text) => ({ text });
const sayCut = (text) => ({ text, cut: true }); // the text never gets its end event
const think = (thinking) => ({ thinking });
const call = (id, name, args) => ({ call: { type: "toolCall", id, name, arguments: args } });
const fail = (message) => ({ fail: message });

// bash {command: "hook"} runs the scenario's hook; "hang" waits for the abort and throws, as pi's own bash does; "deaf" ignores it.
const bash = (id, command) => call(id, "bash", { command });

export const SCENARIOS = {
  text: { prompts: ["Hi"], responses: [[say("Hello there.")]] },
  reasoning: { prompts: ["Hi"], responses: [[think("Greet back."), say("Hello.")]] },
  tools: { prompts: ["Read a.txt"], responses: [[say("I look."), call("call-1", "read", { path: "a.txt" })], [say("It says alpha.")]] },
  "two-tools": { prompts: ["Find it"], responses: [[call("call-1", "read", { path: "a.txt" }), call("call-2", "grep", { pattern: "alpha" })], [say("Line 1.")]] },
  "tool-failure": { prompts: ["Deploy"], responses: [[call("call-1", "deploy", { target: "prod" })], [say("No access.")]] },
  "model-failure-before-text": { prompts: ["Hi"], responses: [[fail("no credit")]] },
  "model-failure-amid-text": { prompts: ["Hi"], responses: [[sayCut("Hello there."), fail("no credit")]] },
  "abort-amid-text": { prompts: ["Hi"], responses: [[sayCut("Hello there."), { hook: (agent) => agent.abort() }]] },
  "abort-amid-tool": { prompts: ["Wait"], responses: [[bash("call-1", "hang")]], hook: (agent) => agent.abort() },
  // The whole shape of a run in one: the source of diagrams/sequence.svg.
  "steer-two-tools": {
    prompts: ["Does a.txt still pass its tests?"],
    responses: [
      [think("Read it first, then run the tests."), say("I read a.txt and run its tests."), call("call-1", "read", { path: "a.txt" }), bash("call-2", "make test")],
      [think("The tests are done: yes."), say("Yes.")],
    ],
    hook: (agent) => agent.steer("Just yes or no, please"),
  },
  steer: { prompts: ["Wait"], responses: [[bash("call-1", "hook")], [say("Going left.")]], hook: (agent) => agent.steer("Go left") },
  "follow-up": { prompts: ["Wait"], responses: [[bash("call-1", "hook")], [say("Waited.")], [say("Bye.")]], hook: (agent) => agent.followUp("Say bye") },
  // More than was asked for: cases in which a reader or a law can go wrong.
  "two-prompts": { prompts: ["Hi", "Bye"], responses: [[say("Hello.")], [say("Bye.")]] },
  "steer-and-follow-up": {
    prompts: ["Wait"], responses: [[bash("call-1", "hook")], [say("Going left.")], [say("Bye.")]],
    hook: async (agent) => { await agent.followUp("Say bye"); await agent.steer("Go left"); },
  },
  "steer-amid-text": { prompts: ["Hi"], responses: [[say("Hello there."), { hook: (agent) => agent.steer("Go left") }], [say("Going left.")]] },
  "abort-with-queue": {
    prompts: ["Hi", "Still there?"], responses: [[sayCut("Hello there."), { hook: async (agent) => { await agent.followUp("Say bye"); await agent.steer("Go left"); agent.abort(); } }], [say("Yes.")], [say("Bye.")]],
  },
  "abort-amid-call": { prompts: ["Wait"], responses: [[call("call-1", "read", { path: "a.txt" }), { hook: (agent) => agent.abort() }]] },
  "abort-two-tools": { prompts: ["Wait"], sequential: true, responses: [[bash("call-1", "hang"), call("call-2", "read", { path: "a.txt" })]], hook: (agent) => agent.abort() },
  "abort-deaf-tool": { prompts: ["Wait"], responses: [[bash("call-1", "deaf")]], hook: (agent) => agent.abort() },
  "length-stop": { prompts: ["Read a.txt"], responses: [[call("call-1", "read", { path: "a.txt" }), { stop: "length" }], [say("It says alpha.")]] },
  "model-throws": { prompts: ["Hi"], responses: [[{ throws: "no route" }]] },
  "model-throws-later": { prompts: ["Read a.txt"], responses: [[call("call-1", "read", { path: "a.txt" })], [{ throws: "no route" }]] },
  "unknown-tool": { prompts: ["Read a.txt"], responses: [[call("call-1", "cat", { path: "a.txt" })], [say("No such tool.")]] },
  "tool-terminates": { prompts: ["Wait"], responses: [[bash("call-1", "last")]] },
};
// Only pi's coding agent retries.
export const RETRY = { prompts: ["Hi"], responses: [[sayCut("Hel"), fail("overloaded_error")], [say("Hello.")]] };

export function playModel(scenario, controls, createStream) {
  const responses = [...scenario.responses];
  return (_model, _context, options) => {
    const steps = [...(responses.shift() ?? [say("(the script is over)")])];
    if (steps[0].throws) throw new Error(steps[0].throws);
    const stream = createStream();
    void play(stream, steps, options?.signal, controls);
    return stream;
  };
}

async function play(stream, steps, signal, controls) {
  // `partial` is one object that grows, as pi-ai's providers have it; subscribers see it at the moment of the event.
  const message = { role: "assistant", content: [], api: MODEL.api, provider: MODEL.provider, model: MODEL.id, usage: USAGE, stopReason: "stop", timestamp: Date.now() };
  const push = async (event) => {
    stream.push(event);
    await tick();
  };
  const end = (reason, errorMessage) => {
    message.stopReason = reason;
    if (errorMessage) message.errorMessage = errorMessage;
    if (errorMessage) stream.push({ type: "error", reason, error: message });
    else stream.push({ type: "done", reason, message });
    stream.end();
  };
  await tick();
  if (signal?.aborted) return end("aborted", "Request was aborted.");
  if (!("fail" in steps[0])) await push({ type: "start", partial: message });
  let stop = null;
  for (const step of steps) {
    const contentIndex = message.content.length;
    if (step.text !== undefined) await playText(push, message, contentIndex, "text", step.text, step.cut);
    else if (step.thinking !== undefined) await playText(push, message, contentIndex, "thinking", step.thinking);
    else if (step.call) {
      const block = { ...step.call, arguments: {} };
      message.content.push(block);
      await push({ type: "toolcall_start", contentIndex, partial: message });
      block.arguments = step.call.arguments;
      await push({ type: "toolcall_delta", contentIndex, delta: JSON.stringify(block.arguments), partial: message });
      await push({ type: "toolcall_end", contentIndex, toolCall: block, partial: message });
      stop = "toolUse";
    } else if (step.hook) await step.hook(controls);
    else if (step.stop) stop = step.stop;
    else if (step.fail) return end("error", step.fail);
    if (signal?.aborted) return end("aborted", "Request was aborted.");
  }
  end(stop ?? "stop");
}

async function playText(push, message, contentIndex, kind, text, cut) {
  const block = { type: kind, [kind]: "" };
  message.content.push(block);
  await push({ type: `${kind}_start`, contentIndex, partial: message });
  for (const delta of text.match(/.{1,7}/gs)) {
    block[kind] += delta;
    await push({ type: `${kind}_delta`, contentIndex, delta, partial: message });
  }
  if (!cut) await push({ type: `${kind}_end`, contentIndex, content: text, partial: message });
}

// `hook` is called while the tool runs.
export function makeTools(scenario, controls) {
  const result = (text) => ({ content: [{ type: "text", text }], details: {} });
  const tool = (name, run) => ({ name, label: name, description: name, parameters: { type: "object", properties: {} }, execute: (_id, params, signal) => run(params, signal) });
  return [
    tool("read", async () => result("alpha")),
    tool("grep", async () => result("a.txt:1: alpha")),
    tool("write", async () => result("written")),
    tool("deploy", async () => {
      throw new Error("no access to prod");
    }),
    tool("bash", async ({ command }, signal) => {
      await tick();
      if (command === "last") return { ...result("done"), terminate: true };
      const aborted = new Promise((_, reject) => signal?.addEventListener("abort", () => reject(new Error("Command aborted"))));
      if (command !== "hang") aborted.catch(() => {});
      const hooked = scenario.hook?.(controls);
      if (command === "hang") await aborted;
      // abort() of the coding agent waits for the idle agent, thus for this tool: only the queueing calls are awaited.
      else if (command === "hook") await hooked;
      await tick();
      return result("done");
    }),
  ];
}
