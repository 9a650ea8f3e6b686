// pi's AgentHarness (pi-agent-core 0.87.1): runs, compactions and queues that are written to a session before they take
// effect, in a file of JSON lines under `stateDir`, without it in memory. Its defaults stand, but for what a test needs:
// KEPT. A lane of its own in each session.
//
// - Messages: as for pi's Agent, the caller decides whether one is a prompt, a steer or a follow-up. Amid a compaction
//   each is a prompt, which the lane refuses.
// - Abort is `lane.abort`. It takes steers and follow-ups out of the queue, and hands them back to the caller: dropped.
//   After a failure they stay, and the next prompt takes them along.
// - Restart: the session is opened, and `lane.resume` called, as for each operation that `AgentHarness.create` calls open.
// - Compact is `lane.compact`. It asks the model twice where the last turn is too large to be kept whole.
// - Retries are the harness's own, by its default policy. It looks at the provider's words, so that a broken stream is
//   tried again too.
import { serve } from "../../kit/turncheck_kit.mjs";
import {
  CAPABILITIES,
  MODEL,
  POLICIES,
  core,
  implementation,
  itemOf,
  load,
  play,
  resultOf,
  settings,
  shown,
  tool,
  toolResult,
} from "./scripted.mjs";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

const { AgentHarness, BACKGROUND_CONTEXT: CONTEXT, JsonlSessionRepo, MemorySessionRepo } = core;
const { createModels, createProvider } = await load("pi-ai/dist/index.js");
const { NodeExecutionEnv } = await load("pi-agent-core/dist/harness/env/nodejs.js");

const LANE = "main";
const ONLY = "session"; // the id of the session without a name
/** Tokens that a compaction keeps: a turn of the words that runtimes are given has six or more; the default is 20,000. */
const KEPT = 6;
const policies = {
  ...POLICIES,
  retries: 3, // harness/config.js: DEFAULT_RETRY_POLICY
  queueAfterInterrupted: "drop",
  queueAfterError: "join",
  steerHandover: "all", // harness/runtime/harness.js: steeringMode and followUpMode
  followUpHandover: "all",
  compactionFails: "keep",
  compactionRetries: 3,
  unread: "drop", // with the queue, by an abort
  openTurnAfterRestart: "goes-on",
};
/** What a provider says of each failure: pi-ai knows by the words what may be tried again (utils/retry.js). */
const WORDS = {
  retryable: "503 Service Unavailable: the model failed",
  fatal: "400 Bad Request: the model failed",
  stream: "terminated: the model's stream broke",
};
const EVENTS = [
  "run_start",
  "run_end",
  "message_update",
  "message_end",
  "tool_start",
  "tool_end",
  "queue_update",
  "compaction_end",
];
const REASONS = { completed: "completed", aborted: "interrupted", failed: "error" };

class Chat {
  active = false; // a cycle is under way: its run-stop is not yet logged
  asked = false; // the run under way has asked the model
  followUps = new Set(); // the entries of follow-ups that wait
  responseId = undefined;
  step = undefined; // what the next request is for

  constructor(env, sessionId) {
    this.env = env;
    this.sessionId = sessionId;
  }

  /** Attach a harness to *session*, and go on with what it has open. */
  async attach(session, given) {
    const models = createModels();
    const stream = (_model, context, { signal }) => this.stream(context, signal);
    models.setProvider(
      createProvider({
        id: MODEL.provider,
        auth: { apiKey: { name: "scripted", resolve: async () => ({ auth: {} }) } },
        models: [MODEL],
        api: { stream, streamSimple: stream },
      }),
    );
    const tools = this.env.options.tools.map((declared) => this.tool(declared));
    const compaction = { ...core.DEFAULT_COMPACTION_SETTINGS, keepRecentTokens: KEPT };
    const { harness, open } = await AgentHarness.create(
      { session, models, model: MODEL, tools, compaction, ...given },
      CONTEXT,
    );
    for (const type of EVENTS) harness.events.on(type, (event) => this.listen(event));
    for (const type of EVENTS) harness.events.on(type, () => this.env.observe());
    harness.hooks.on("before_request", ({ step }) => void (this.step = step));
    this.lane = await harness.lane(LANE, CONTEXT);
    const watch = await this.lane.watch(CONTEXT);
    watch.unsubscribe();
    this.keep(watch.snapshot.queues);
    this.active = open.some(({ kind }) => kind === "run");
    if (open.length) void this.lane.resume(CONTEXT).catch((error) => this.fault(error));
    return this;
  }

  log(event, how) {
    this.env.log({ ...event, sessionId: this.sessionId }, how);
  }

  stream(context, signal) {
    const purpose = this.step === "compaction" ? this.step : undefined;
    const request = this.env.model(shown(context), { signal, sessionId: this.sessionId, purpose });
    this.responseId = request.id;
    this.asked ||= !purpose;
    return play(request, signal, WORDS);
  }

  tool(declared) {
    return tool(declared, async (callId, args, _update, _context, _invocation, { abortSignal: signal }) =>
      resultOf(await this.env.tool(callId, declared.name, args, { signal, sessionId: this.sessionId })),
    );
  }

  async user({ id, text, delivery }) {
    const { lane } = this;
    const message = { role: "user", content: [{ type: "text", text }], timestamp: Date.now() };
    const { current } = await lane.inspectExecution(CONTEXT).catch(() => ({}));
    const told = { type: "user-message", id, text, delivery };
    if (current?.kind === "run" && delivery) {
      this.log(told);
      const queued =
        delivery === "steer"
          ? lane.steer(message, undefined, CONTEXT)
          : lane.followUp(message, undefined, CONTEXT);
      return queued.catch((error) => this.fault(error));
    }
    const accepted = await lane.accept({ kind: "prompt", prompt: message }, CONTEXT).catch(refused);
    if (!accepted.ok) return this.env.refuse("rejected", accepted.error.message);
    this.log(told);
    return lane
      .drive({ operationId: accepted.value.operationId, waitForRetry: true }, CONTEXT)
      .catch((error) => this.fault(error));
  }

  async compact() {
    const done = await this.lane.compact(undefined, CONTEXT).catch(refused);
    if (!done.ok) this.env.refuse("rejected", done.error.message);
  }

  /** A fault of the harness rejects whoever waits for it: it is the end of the run, if it told none. */
  fault(error) {
    if (!this.active) this.log({ type: "native", name: "rejected", message: error.message });
    this.stop("error", error.message, { source: "adapter", via: "exception" });
  }

  /** The harness tells a listener's exception to other listeners alone: an error here is the adapter's failure. */
  listen(event) {
    try {
      this.hear(event);
    } catch (error) {
      this.env.fail(error);
    }
  }

  hear(event) {
    switch (event.type) {
      case "run_start":
        this.active = true;
        this.asked = false;
        break;
      case "queue_update":
        this.keep(event.queues);
        break;
      case "message_update": {
        const item = itemOf(event.event, this.responseId);
        if (item) this.log(item);
        break;
      }
      case "message_end":
        // One run answers its follow-ups too: the cycle before is over when one is taken, unless a prompt took it along.
        if (this.followUps.delete(event.entryId) && this.asked) {
          this.stop("completed", undefined, { source: "adapter" });
          this.active = true;
        }
        break;
      case "tool_start":
        this.log({ type: "native", name: event.type, callId: event.toolCallId });
        break;
      case "tool_end":
        this.log(toolResult(event.toolCallId, event.isError, event.result));
        break;
      case "run_end":
        this.stop(REASONS[event.status], event.error?.message);
        break;
      case "compaction_end":
        this.log({ type: "native", name: event.type, status: event.status });
        break;
      default:
    }
  }

  keep(queues) {
    for (const { entryId, kind } of queues) if (kind === "followUp") this.followUps.add(entryId);
  }

  stop(reason, detail, how) {
    if (this.active) this.log({ type: "run-stop", reason, detail }, how);
    this.active = false;
  }
}

/** What the harness answers where it refuses, of an operation that it rejects. */
const refused = (error) => ({ ok: false, error });

/** Draw as many random bytes as *folder* has: ids of a process that starts again must not be those of the one before. */
function differ(folder) {
  const files = readdirSync(folder, { recursive: true }).map((name) => statSync(join(folder, name)));
  crypto.getRandomValues(new Uint8Array(files.reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0)));
}

serve({
  implementation: { ...implementation, name: `${implementation.name} AgentHarness` },
  profile: {
    capabilities: [...CAPABILITIES, "persistence", "compaction"],
    policies,
  },
  async reset(env) {
    const given = settings(env, policies);
    const { stateDir } = env.options;
    const chats = new Map();
    const cwd = stateDir ?? "/";
    const repo = stateDir
      ? new JsonlSessionRepo({ fileSystem: new NodeExecutionEnv({ cwd }), sessionsRoot: cwd })
      : new MemorySessionRepo();
    if (stateDir) differ(stateDir);
    const attach = (sessionId, session) => new Chat(env, sessionId).attach(session, given);
    for (const one of stateDir ? await repo.list(undefined, CONTEXT) : []) {
      const sessionId = one.id === ONLY ? undefined : one.id;
      chats.set(sessionId, attach(sessionId, await repo.open(one, CONTEXT)));
    }
    await Promise.all(chats.values());
    this.chat = ({ sessionId }) => {
      if (!chats.has(sessionId))
        chats.set(
          sessionId,
          repo.create({ cwd, id: sessionId ?? ONLY }, CONTEXT).then((made) => attach(sessionId, made)),
        );
      return chats.get(sessionId);
    };
  },
  async user(message) {
    return (await this.chat(message)).user(message);
  },
  async abort(stimulus) {
    return (await this.chat(stimulus)).lane.abort(CONTEXT);
  },
  async compact(stimulus) {
    return (await this.chat(stimulus)).compact();
  },
});
