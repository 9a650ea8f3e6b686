// Record pi's coding agent: node session.mjs SCOPE OUT-SESSIONS OUT-JSON
// OUT-SESSIONS gets the session files that its SessionManager writes, OUT-JSON what `pi --mode json` prints.
import { restartIds } from "./freeze.mjs";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { makeTools, MODEL, playModel, RETRY, SCENARIOS } from "./scenarios.mjs";

const [scope, outSessions, outJson] = process.argv.slice(2);
// The folder stands in the header of every file, so it is the same everywhere.
const HOME = "/tmp/pi-recording";
process.env.HOME = HOME;
process.env.PI_OFFLINE = "1";
process.env.OPENAI_API_KEY = "none"; // asked for before a prompt; the scripted model never uses it

const { createAgentSession, DefaultResourceLoader, SessionManager, SettingsManager } = await import(`${scope}/pi-coding-agent`);
const { createAssistantMessageEventStream } = await import(`${scope}/pi-ai`);
// Later versions print another shape than they emit. The function is not exported by name.
const modes = join(dirname(fileURLToPath(import.meta.resolve(`${scope}/pi-coding-agent`))), "modes");
const { toJsonEvent } = await import(join(modes, "json-event.js")).catch(() => ({ toJsonEvent: (event) => event }));

const NAMES = ["text", "reasoning", "tools", "two-tools", "tool-failure", "model-failure-before-text", "model-failure-amid-text", "abort-amid-text", "abort-amid-tool",
  "steer", "follow-up", "steer-and-follow-up", "abort-with-queue", "abort-amid-call", "abort-two-tools", "two-prompts"];
const scenarios = Object.fromEntries(NAMES.map((name) => [name, SCENARIOS[name]]));
scenarios["model-failure-retried"] = RETRY;

rmSync(HOME, { recursive: true, force: true });
for (const folder of [outSessions, outJson, HOME]) mkdirSync(folder, { recursive: true });
for (const [name, scenario] of Object.entries(scenarios)) {
  restartIds();
  const settingsManager = SettingsManager.inMemory({ retry: { enabled: true, maxRetries: 1, baseDelayMs: 1 }, compaction: { enabled: false } });
  const resourceLoader = new DefaultResourceLoader({
    cwd: HOME, agentDir: join(HOME, "agent"), settingsManager, systemPrompt: "Be brief.",
    noExtensions: true, noSkills: true, noPromptTemplates: true, noThemes: true, noContextFiles: true,
  });
  await resourceLoader.reload();
  const sessionManager = SessionManager.create(HOME, join(HOME, name));
  sessionManager.newSession({ id: "session-1" });
  const controls = { steer: (text) => session.steer(text), followUp: (text) => session.followUp(text), abort: () => void session.abort() };
  const customTools = makeTools(scenario, controls);
  const { session } = await createAgentSession({
    cwd: HOME, agentDir: join(HOME, "agent"), model: MODEL, thinkingLevel: "off", resourceLoader, settingsManager, sessionManager, customTools, tools: customTools.map((tool) => tool.name),
  });
  const stream = playModel(scenario, controls, createAssistantMessageEventStream);
  session.agent.streamFn = stream; // the name in 0.73
  session.agent.streamFunction = stream; // the name in 0.87
  if (scenario.sequential) session.agent.toolExecution = "sequential";
  const lines = [JSON.stringify(sessionManager.getHeader())];
  session.subscribe((event) => void lines.push(JSON.stringify(toJsonEvent(event))));
  for (const prompt of scenario.prompts) {
    await session.prompt(prompt);
    await session.agent.waitForIdle();
  }
  writeFileSync(join(outJson, `${name}.jsonl`), lines.map((line) => `${line}\n`).join(""));
  writeFileSync(join(outSessions, `${name}.jsonl`), readFileSync(sessionManager.getSessionFile()));
  session.dispose();
}
process.exit(0); // the coding agent leaves timers behind
