// A small agent that keeps every rule: the positive control of all laws, and the yardstick of speed for the kit.
import { serve, ToolFailure } from "../../../../adapters/kit/turncheck_kit.mjs";

class Session {
  history = []; // entries of the model's input
  steers = [];
  queue = [];
  called = new Set(); // every call id of this session: a repeated one is given another name
  run = undefined; // {signal, controller, open: calls without a result}

  constructor(env, sessionId) {
    this.env = env;
    this.sessionId = sessionId;
  }

  log(event) {
    this.env.log({ ...event, sessionId: this.sessionId });
    try {
      this.env.observe()?.catch(() => {}); // neither its failure nor its pace is the run's
    } catch {
      // an observer that throws
    }
  }

  user({ id, text, delivery }) {
    this.log({ type: "user-message", id, text, delivery });
    const message = { role: "user", text };
    if (!this.run) this.start(message);
    else if (delivery === "steer") this.steers.push(message);
    else this.queue.push(message);
  }

  start(message) {
    this.history.push(message);
    const controller = new AbortController();
    const run = { controller, signal: controller.signal, open: new Map() };
    this.run = run;
    this.rounds(run).then(
      (detail) => this.finish(run, detail ? "error" : "completed", detail),
      (error) => this.finish(run, "error", error.message),
    );
  }

  abort() {
    const run = this.run;
    this.finish(run, "interrupted"); // at once: what was awaited comes too late
    run?.controller.abort();
  }

  /** One model request a round, until it calls no tool and nobody steers; returns why it was cut short. */
  async rounds(run) {
    const most = this.env.options.limits.maxRounds ?? Infinity;
    for (let round = 1; ; round++) {
      this.history.push(...this.steers.splice(0));
      const request = this.env.model(this.history, { signal: run.signal, sessionId: this.sessionId });
      const calls = [];
      for await (const item of request) {
        if (this.run !== run) return undefined;
        this.output(run, request.id, item, calls);
      }
      if (this.run !== run) return undefined;
      const results = await Promise.all(calls.map((call) => this.execute(run, call)));
      if (this.run !== run) return undefined;
      if (!results.length && !this.steers.length && request.reason !== "length") return undefined;
      if (round === most) return `stopped after ${most} rounds`;
    }
  }

  output(run, responseId, item, calls) {
    if (item.kind === "tool-call") {
      const call = { ...item, callId: this.unique(item.callId) };
      this.log({ type: "agent-output", ...call, responseId });
      this.history.push({ role: "assistant", callId: call.callId, tool: call.tool });
      run.open.set(call.callId, call);
      calls.push(call);
    } else {
      this.log({ type: "agent-output", ...item, responseId });
      if (item.kind === "assistant") this.history.push({ role: "assistant", text: item.text });
    }
  }

  unique(callId) {
    let name = callId;
    for (let n = 2; this.called.has(name); n++) name = `${callId}-${n}`;
    this.called.add(name);
    return name;
  }

  async execute(run, { callId, tool, arguments: args }) {
    try {
      const parsed = typeof args === "string" ? JSON.parse(args) : args;
      if (!this.env.options.tools.some(({ name }) => name === tool)) throw new ToolFailure(`there is no tool ${tool}`);
      const output = await this.env.tool(callId, tool, parsed, { signal: run.signal, sessionId: this.sessionId });
      this.result(run, callId, { output });
    } catch (error) {
      this.result(run, callId, { output: error.message, isError: true });
    }
    return callId;
  }

  result(run, callId, result) {
    if (!run.open.delete(callId)) return; // answered by the run's end
    this.log({ type: "tool-result", callId, ...result });
    const text = typeof result.output === "string" ? result.output : JSON.stringify(result.output);
    this.history.push({ role: "tool", callId, text, isError: result.isError });
  }

  finish(run, reason, detail) {
    if (!run || this.run !== run) return;
    for (const callId of [...run.open.keys()])
      this.result(run, callId, { output: "cancelled", isError: true, synthetic: true });
    this.log({ type: "run-stop", reason, detail });
    this.run = undefined;
    this.history.push(...this.steers.splice(0)); // for the next request
    const next = this.queue.shift();
    if (next) this.start(next);
  }
}

serve({
  implementation: { name: "null-runtime", version: "1", language: "javascript" },
  profile: {
    capabilities: [
      "terminal-events",
      "steer",
      "follow-up",
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
    policies: {
      busy: "followUp",
      whileActive: "followUp",
      tools: "parallel",
      steerLands: "after-batch",
      abortEnds: "at-once",
      retries: 0,
      steerHandover: "all",
      followUpHandover: "one",
    },
  },
  reset(env) {
    this.sessions = new Map();
    this.session = (sessionId) => {
      if (!this.sessions.has(sessionId)) this.sessions.set(sessionId, new Session(env, sessionId));
      return this.sessions.get(sessionId);
    };
  },
  user(message) {
    this.session(message.sessionId).user(message);
  },
  abort({ sessionId }) {
    this.session(sessionId).abort();
  },
});
