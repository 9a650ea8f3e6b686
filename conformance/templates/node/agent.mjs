// A toy agent, to be replaced by yours: it asks its model, runs the tools that this calls, and asks again.

/** One conversation. It tells what happens: `text`, `call`, `result` and, once a run, `end`. */
export class Agent {
  /** `ask(history, signal)` yields the model's items, `execute(call, arguments, signal)` gives a tool's output. */
  constructor({ ask, execute, tell }) {
    Object.assign(this, { ask, execute, tell });
    this.history = [];
    this.stop = null; // the AbortController of the run under way
  }

  get busy() {
    return this.stop !== null;
  }

  /** Answer a message of the user. One run at a time. */
  async run(text) {
    this.stop = new AbortController();
    const { signal } = this.stop;
    this.open = []; // calls without a result
    this.history.push({ role: 'user', text });
    let reason = 'completed';
    try {
      while (await this.respond(signal)) {
        while (this.open.length > 0) await this.attempt(this.open[0], signal);
      }
    } catch {
      reason = signal.aborted ? 'interrupted' : 'error';
    }
    // A call without a result would spoil every later request.
    while (this.open.length > 0) this.answer(this.open[0], `not executed: the run was ${reason}`, 'skipped');
    this.stop = null;
    this.tell('end', { reason });
  }

  abort() {
    this.stop?.abort();
  }

  /** One request to the model; whether it called a tool. */
  async respond(signal) {
    for await (const item of this.ask(this.history, signal)) {
      this.history.push({ role: 'assistant', ...item });
      if (item.tool) this.open.push(item);
      this.tell(item.tool ? 'call' : 'text', item);
    }
    return this.open.length > 0;
  }

  async attempt(call, signal) {
    let output;
    let status = 'ok';
    try {
      output = await this.execute(call, JSON.parse(call.arguments), signal);
    } catch (error) {
      if (signal.aborted) throw error;
      output = error.message;
      status = 'failed';
    }
    this.answer(call, output, status);
  }

  answer(call, output, status) {
    this.open.splice(this.open.indexOf(call), 1);
    this.history.push({ role: 'tool', id: call.id, text: output, failed: status !== 'ok' });
    this.tell('result', { id: call.id, output, status });
  }
}
