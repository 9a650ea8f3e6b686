// A toy collator, to be replaced by yours: from the frames of a backend to the response blocks that a chat shows.

/** Takes the frames of one request as they come (docs/protocol.md#collate); `blocks` is what the chat shows. */
class Blocks {
  #shown = new Map(); // iteration → block
  #settled = new Set(); // iterations whose response is there: a delta that still comes is late
  #deltas = new Set(); // numbers of deltas that are known
  #toolsRan = false; // since the newest block began: the next delta begins another

  get blocks() {
    return [...this.#shown.values()].sort((one, other) => one.iteration - other.iteration);
  }

  feed(frame) {
    switch (frame.type) {
      case 'delta':
        return this.#delta(frame);
      case 'llm_request':
        return this.#describe(frame.iteration, frame);
      case 'llm_response':
        this.#describe(frame.iteration, frame.llmApiCall ?? {});
        this.#describe(frame.iteration, frame);
        return this.#settle(frame.iteration, frame.response);
      case 'message_complete': {
        const records = frame.llmApiCalls; // of all iterations so far: the last one is its own
        this.#describe(records.length, records.at(-1));
        return this.#settle(records.length, frame);
      }
      case 'tool_call_start':
        return this.#hang(frame, 'tool', frame.name, 'running');
      case 'tool_call_result':
        return this.#hang(frame, 'result', frame.content, frame.is_error ? 'failed' : 'done');
    }
  }

  #delta({ content, seq }) {
    if (this.#deltas.has(seq)) return; // only its number tells that it is known: “ha”, “ha” is text
    if (seq !== undefined) this.#deltas.add(seq);
    const newest = Math.max(0, ...this.#shown.keys());
    if (this.#settled.has(newest) && !this.#toolsRan) return;
    const block = this.#block(newest === 0 || this.#toolsRan ? newest + 1 : newest);
    block.text += content;
    block.streaming = true;
  }

  #block(iteration) {
    if (!this.#shown.has(iteration)) {
      this.#shown.set(iteration, { iteration, text: '', calls: [] });
      this.#toolsRan = false;
    }
    return this.#shown.get(iteration);
  }

  /** Read who answered, at the top of a call record or under its request; what is absent takes nothing away. */
  #describe(iteration, { provider, model, request, response }) {
    const block = this.#block(iteration);
    block.provider = provider ?? request?.provider ?? block.provider;
    block.model = model ?? request?.model ?? block.model;
    block.usage = response?.usage ?? block.usage;
    block.finishReason = response?.finish_reason ?? block.finishReason;
  }

  #settle(iteration, message) {
    this.#settled.add(iteration);
    const block = this.#block(iteration);
    block.text = message.content || block.text;
    block.streaming = false;
    for (const call of message.tool_calls) {
      if (block.calls.some((use) => use.callId === call.id)) continue;
      block.calls.push({ callId: call.id, arguments: call.function.arguments });
    }
  }

  /** A use hangs on the block whose response made it; a stranger on the newest block. */
  #hang({ id }, name, value, status) {
    let use = this.blocks.flatMap((block) => block.calls).find((one) => one.callId === id);
    if (!use) {
      use = { callId: id };
      this.#block(Math.max(1, ...this.#shown.keys())).calls.push(use);
    }
    this.#toolsRan ||= !(name in use);
    use[name] = value;
    if (name === 'result' || !use.status) use.status = status;
  }
}

export function collate(frames) {
  const fed = new Blocks();
  for (const frame of frames) fed.feed(frame);
  return fed.blocks;
}
