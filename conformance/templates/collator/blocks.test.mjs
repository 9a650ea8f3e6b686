// `node --test`: the collator keeps every law on collators. turncheck is a Python package, and has to be on the path.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import test from 'node:test';

test('the collator keeps every law', () => {
  const target = 'cmd:node collator.mjs';
  const { status, stdout, stderr, error } = spawnSync('turncheck', ['verify', target], { encoding: 'utf8' });
  assert.ifError(error);
  assert.equal(status, 0, stdout + stderr);
});
