// A small agent whose tool `delegate` starts a sub-agent: a run of its own, with a history and a signal of its own.
import { serve, ToolFailure } from "../../../../adapters/kit/turncheck_kit.mjs";

const NO_TOOL = { output: "there is no such tool here", isError: true };

class Agent {
  open = new Map(); // calls without a result
  children = new Set();
  controller = new AbortController();

  constructor(session, history, agentId, parentCallId) {
    Object.assign(this, { session, env: session.env, history, agentId, parentCallId });
  }

  log(event) {
    this.env.log({ ...event, agentId: this.agentId, parentCallId: this.parentCallId });
  }

  /** Run to the end, and resolve to how it ended. */
  async run(id, text) {
    this.session.agents.set(this.agentId, this);
    this.log({ type: "user-message", id, text });
    this.history.push({ role: "user", text });
    let reason = "completed";
    try {
      while (await this.ask()) await this.execute();
    } catch {
      reason = this.stopping || this.controller.signal.aborted ? "interrupted" : "error";
    }
    for (const callId of [...this.open.keys()]) this.result(callId, { output: "not executed", isError: true, synthetic: true });
    this.session.agents.delete(this.agentId);
    this.log({ type: "run-stop", reason });
    return reason;
  }

  /** Stop the sub-agents first: each has ended when this one does. */
  async abort() {
    this.stopping = true;
    await Promise.all([...this.children].map((child) => child.stop()));
    this.controller.abort();
  }

  stop() {
    this.controller.abort();
    return this.ended;
  }

  async ask() {
    const { agentId, parentCallId } = this;
    const { signal } = this.controller;
    const request = this.env.model(this.history, { signal, agentId, parentCallId });
    for await (const item of request) {
      this.log({ type: "agent-output", ...item, responseId: request.id });
      if (item.kind === "tool-call") this.open.set(item.callId, item);
      if (item.kind !== "reasoning") this.history.push({ ...item, kind: undefined, role: "assistant" });
    }
    return this.open.size;
  }

  async execute() {
    for (const call of [...this.open.values()]) {
      const result = await (call.tool !== "delegate" ? this.tool(call) : this.agentId == null ? this.delegate(call) : NO_TOOL);
      if (this.stopping) throw new Error("it is being stopped");
      this.result(call.callId, result);
    }
  }

  async tool({ callId, tool, arguments: args }) {
    const { agentId } = this;
    try {
      return { output: await this.env.tool(callId, tool, args, { signal: this.controller.signal, agentId }) };
    } catch (error) {
      if (error instanceof ToolFailure) return { output: error.message, isError: true };
      throw error;
    }
  }

  async delegate({ callId, arguments: { task } }) {
    const number = ++this.session.started;
    const child = new Agent(this.session, [], `agent${number}`, callId);
    this.children.add(child);
    child.ended = child.run(`task${number}`, task);
    const reason = await child.ended;
    this.children.delete(child);
    const answer = child.history.findLast(({ role }) => role === "assistant")?.text;
    return reason === "completed" ? { output: answer ?? "" } : { output: `it ended: ${reason}`, isError: true };
  }

  result(callId, result) {
    this.open.delete(callId);
    this.log({ type: "tool-result", callId, ...result });
    this.history.push({ role: "tool", callId, text: String(result.output), isError: result.isError });
  }
}

serve({
  implementation: { name: "delegating-runtime", version: "1", language: "javascript" },
  profile: {
    capabilities: ["tools", "abort", "tool-failure", "model-failure", "sub-agents", "model-input"],
    policies: { busy: "reject", tools: "serial", retries: 0, subAgents: "awaited", subAgentDepth: 1, subAgentMessages: "refused" },
  },
  reset(env) {
    this.env = env;
    this.session = { env, agents: new Map(), started: 0 };
    this.history = [];
  },
  user({ id, text, agentId }) {
    if (agentId != null) return this.env.refuse("rejected", "a sub-agent has its task, and takes no messages");
    if (this.session.agents.has(undefined)) return this.env.refuse("rejected", "busy");
    new Agent(this.session, this.history).run(id, text);
    return undefined;
  },
  abort({ agentId }) {
    return this.session.agents.get(agentId ?? undefined)?.abort();
  },
});
