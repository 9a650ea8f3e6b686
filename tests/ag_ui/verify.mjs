// Answer each line, a JSON list of events, with what verifyEvents says of it: null, or {"at", "why"} of the first rejection.
import { createInterface } from "node:readline";
import { verifyEvents } from "@ag-ui/client";
import { from } from "rxjs";

for await (const line of createInterface({ input: process.stdin })) {
  let at = 0;
  let verdict = null;
  from(JSON.parse(line))
    .pipe(verifyEvents())
    .subscribe({
      next: () => { at += 1; },
      error: (error) => { verdict = { at, why: error.message }; },
    });
  process.stdout.write(`${JSON.stringify(verdict)}\n`);
}
