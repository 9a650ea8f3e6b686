// The AI SDK's resumable streams, version 6: the server of the page "Chatbot Resume Streams" in its documentation, whose
// messages and streams are in memory, and the SDK's own clients, AbstractChat on a DefaultChatTransport.
// A client that leaves loses its connection and keeps the messages that it shows, as a tab in the background does; when
// it comes back, it calls resumeStream(). A client that joins anew is a page that is loaded: it has the stored messages,
// and calls resumeStream() too. A message is sent by the first client that joined while it is there, and else by one that
// nobody looks at: another that is there would send it only because somebody left.
// Text alone: no tools, no reasoning, no failures, and no stop, which that page leaves to an endpoint of one's own.
// One response at a time: meanwhile, this server rejects messages; the SDK has no rule for that.
import { serve } from "../../kit/turncheck_kit.mjs";
import { ai, require, scriptedModel, textOf, version } from "./model.mjs";

const { AbstractChat, DefaultChatTransport, UI_MESSAGE_STREAM_HEADERS } = ai;
const { convertToModelMessages, generateId, streamText } = ai;
const { createResumableStreamContext } = require("resumable-stream/generic");

/** The publisher and subscriber of a resumable stream, without Redis. */
class Broker {
  values = new Map();
  callbacks = new Map();

  async connect() {}

  async publish(channel, message) {
    this.callbacks.get(channel)?.(message);
  }

  async subscribe(channel, callback) {
    this.callbacks.set(channel, callback);
  }

  async unsubscribe(channel) {
    this.callbacks.delete(channel);
  }

  async set(key, value) {
    this.values.set(key, value);
  }

  async get(key) {
    return this.values.get(key) ?? null;
  }
}

class Server {
  messages = [];
  streamId = null; // of the response under way
  busy = false;

  constructor(env) {
    this.env = env;
    const broker = new Broker();
    this.streams = createResumableStreamContext({ waitUntil: () => {}, publisher: broker, subscriber: broker });
  }

  async post({ message }) {
    this.busy = true;
    this.messages = [...this.messages, message];
    const result = streamText({
      model: scriptedModel(
        (context, signal) => this.env.model(context, { signal }),
        (requestId) => void (this.responseId = requestId),
      ),
      messages: await convertToModelMessages(this.messages),
      onError: () => this.env.observe(), // the default prints it
    });
    this.read(result.fullStream).catch((error) => this.env.fail(error));
    return result.toUIMessageStreamResponse({
      originalMessages: this.messages,
      generateMessageId: generateId,
      onFinish: ({ messages }) => {
        this.messages = messages;
        this.streamId = null;
        this.busy = false;
      },
      consumeSseStream: async ({ stream }) => {
        const streamId = generateId();
        await this.streams.createNewResumableStream(streamId, () => stream);
        this.streamId = streamId;
      },
    });
  }

  async get() {
    if (this.streamId === null) return new Response(null, { status: 204 });
    const stream = await this.streams.resumeExistingStream(this.streamId);
    return new Response(stream?.pipeThrough(new TextEncoderStream()), { headers: UI_MESSAGE_STREAM_HEADERS });
  }

  async read(stream) {
    let text = "";
    for await (const part of stream) {
      if (part.type === "text-start") text = "";
      if (part.type === "text-delta") text += part.text;
      if (part.type === "text-end")
        this.env.log({ type: "agent-output", kind: "assistant", text, responseId: this.responseId });
      if (part.type === "error")
        this.env.log({ type: "run-stop", reason: "error", detail: part.error?.message ?? textOf(part.error) });
      if (part.type === "finish") this.env.log({ type: "run-stop", reason: "completed", detail: part.finishReason });
    }
  }
}

/** The state of a chat, which calls *changed* as a page renders. */
class State {
  error = undefined;
  #status = "ready";
  #messages;

  constructor(messages, changed) {
    this.#messages = messages;
    this.changed = changed;
  }

  get status() {
    return this.#status;
  }

  set status(status) {
    this.#status = status;
    this.changed();
  }

  get messages() {
    return this.#messages;
  }

  set messages(messages) {
    this.#messages = messages;
    this.changed();
  }

  pushMessage = (message) => void (this.messages = [...this.messages, message]);
  popMessage = () => void (this.messages = this.messages.slice(0, -1));
  replaceMessage = (index, message) => void (this.messages = this.messages.with(index, structuredClone(message)));
  snapshot = (value) => structuredClone(value);
}

class Chat extends AbstractChat {}

class Client {
  here = false;
  disconnect = () => {};

  /** *tell* is called with what the client shows, whenever that changes while it is there. */
  constructor(server, tell) {
    this.server = server;
    this.state = new State(structuredClone(server.messages), () => this.here && tell(this.shown()));
    const transport = new DefaultChatTransport({
      fetch: (_, init) => this.fetch(init),
      prepareSendMessagesRequest: ({ id, messages }) => ({ body: { id, message: messages.at(-1) } }),
    });
    this.chat = new Chat({ id: "chat", state: this.state, transport });
  }

  async fetch({ method, body }) {
    const response = await (method === "POST" ? this.server.post(JSON.parse(body)) : this.server.get());
    if (response.body === null) return response;
    const connection = new TransformStream({
      // The error that fetch has for a lost connection.
      start: (controller) => void (this.disconnect = () => controller.error(new TypeError("network error"))),
    });
    return new Response(response.body.pipeThrough(connection), response);
  }

  join() {
    if (this.here) return undefined;
    this.here = true;
    this.state.changed();
    return this.chat.resumeStream();
  }

  leave() {
    this.here = false;
    this.disconnect();
  }

  shown() {
    const events = this.state.messages.flatMap(({ id, role, parts }) =>
      parts
        .filter(({ type }) => type === "text")
        .map(({ text }) =>
          role === "user" ? { type: "user-message", id, text } : { type: "agent-output", kind: "assistant", text },
        ),
    );
    return { type: "snapshot", events, active: ["submitted", "streaming"].includes(this.chat.status) };
  }
}

serve({
  implementation: { name: "ai with resumable-stream", version, language: "javascript", homepage: "https://ai-sdk.dev" },
  profile: { capabilities: ["clients", "model-input"], policies: { busy: "reject", disconnect: "ignored" } },
  reset(env) {
    this.env = env;
    this.server = new Server(env);
    this.clients = new Map();
  },
  user({ id, text }) {
    if (this.server.busy) return this.env.refuse("rejected", "a response is under way");
    this.env.log({ type: "user-message", id, text });
    const [first] = this.clients.values();
    const sender = first?.here ? first : new Client(this.server, () => {});
    return sender.chat.sendMessage({ id, role: "user", parts: [{ type: "text", text }] });
  },
  client({ clientId, action }) {
    if (action === "leave") return this.clients.get(clientId)?.leave();
    if (!this.clients.has(clientId))
      this.clients.set(clientId, new Client(this.server, (shown) => this.env.tell(clientId, shown)));
    return this.clients.get(clientId).join();
  },
});
