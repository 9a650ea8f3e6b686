// The adapter: turncheck plays the user, the model and the tools of the agent in agent.mjs, and reads its events.

import { serve } from './turncheck_kit.mjs'; // first: it replaces the clock

const { Agent } = await import('./agent.mjs');

let env; // turncheck's side: user, model, tools and log
let agent;
let response; // the request that is being answered

/** The agent's model: turncheck's items, in the form that the agent expects. */
async function* ask(history, signal) {
  const request = env.model(history.map(shown), { signal });
  response = request.id;
  for await (const item of request) {
    if (item.kind === 'assistant') yield { text: item.text };
    if (item.kind === 'tool-call') yield { id: item.callId, tool: item.tool, arguments: raw(item.arguments) };
  }
}

/** The agent's tools: they return, or fail, when turncheck says so. */
function execute(call, args, signal) {
  return env.tool(call.id, call.tool, args, { signal });
}

/** Arguments as the text that a model sends: a string unchanged, well-formed or not. */
function raw(args) {
  return typeof args === 'string' ? args : JSON.stringify(args ?? {});
}

/** Convert an entry of the agent's history to the protocol's form. */
function shown({ role, id, tool, text, failed }) {
  if (role === 'tool') {
    const output = typeof text === 'string' ? text : JSON.stringify(text);
    return { role, callId: id, text: output, ...(failed && { isError: true }) };
  }
  return tool ? { role, callId: id, tool } : { role, text };
}

/** Log the agent's news as events (docs/log-format.md). */
function tell(kind, said) {
  const output = { type: 'agent-output', responseId: response };
  const status = { ok: {}, failed: { isError: true }, skipped: { isError: true, synthetic: true } };
  const events = {
    text: () => ({ ...output, kind: 'assistant', text: said.text }),
    call: () => ({ ...output, kind: 'tool-call', callId: said.id, tool: said.tool, arguments: said.arguments }),
    result: () => ({ type: 'tool-result', callId: said.id, output: said.output, ...status[said.status] }),
    end: () => ({ type: 'run-stop', reason: said.reason }),
  };
  env.log(events[kind]());
}

serve({
  implementation: { name: 'toy-agent', version: '1.0', language: 'javascript' },
  profile: {
    // The agent's claims: one that does not hold is a failure; laws on others are skipped.
    capabilities: ['abort', 'tools', 'tool-failure', 'model-failure', 'model-input', 'raw-arguments'],
    policies: { busy: 'reject', tools: 'serial', abortEnds: 'at-once', retries: 0 },
  },
  reset(environment) {
    env = environment;
    agent = new Agent({ ask, execute, tell });
  },
  user({ id, text }) {
    if (agent.busy) return env.refuse('rejected', 'the agent is busy');
    env.log({ type: 'user-message', id, text });
    return void agent.run(text);
  },
  abort() {
    agent.abort();
  },
});
