// Answer each line, the path of a log in JSON lines, with the processor time in seconds that JSON.parse and verifyEvents take
// of it, and with the first rejection, or null.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { verifyEvents } from "@ag-ui/client";
import { from } from "rxjs";

for await (const path of createInterface({ input: process.stdin })) {
  const lines = readFileSync(path, "utf-8").trimEnd().split("\n");
  let why = null;
  const before = process.cpuUsage();
  from(lines.map((line) => JSON.parse(line)))
    .pipe(verifyEvents())
    .subscribe({ error: (error) => { why = error.message; } });
  const { user, system } = process.cpuUsage(before);
  process.stdout.write(`${JSON.stringify({ seconds: (user + system) / 1e6, why })}\n`);
}
