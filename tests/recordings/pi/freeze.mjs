// Freeze what would differ from one recording to the next: the clock and everything random. Import it first.
import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";

const NOW = Date.UTC(2026, 0, 1);
const RealDate = Date;
globalThis.Date = class Date extends RealDate {
  constructor(...args) {
    super(...(args.length ? args : [NOW]));
  }
  static now() {
    return NOW;
  }
};

let count = 0;
// Ids are cut from the front of a UUID (pi's session entries take 8 characters), so the counter stands there.
const next = () => (++count).toString(16).padStart(8, "0");
const randomUUID = () => `${next()}-0000-4000-8000-000000000000`;
const fill = (array) => {
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength).fill(0);
  return array;
};
crypto.randomUUID = randomUUID;
crypto.randomFillSync = fill;
crypto.randomBytes = (size) => Buffer.alloc(size);
crypto.webcrypto.getRandomValues = fill;
crypto.webcrypto.randomUUID = randomUUID;
Math.random = () => 0.5;
syncBuiltinESMExports();

export function restartIds() {
  count = 0;
}
