import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import type { TimeMachine } from "timemachine-client";
import { ended, folder, Gate, machine, outputs, printed, program, queuesIn } from "./support.js";

const LONG_AGO = 1_000_000_000; // seconds since 1970
const numbers = (count: number): number[] => Array.from({ length: count }, (_, number) => number);

test("two lines record a session that has ended", async () => {
  const key = `two-lines-${crypto.randomUUID()}`;
  const source = `import { TimeMachine } from "timemachine-client";
await new TimeMachine().inSession("Invoices", (s) => s.record("user", "How long are invoices kept?"), { key: "${key}" });`;
  assert.equal(await ended(program(source, { TIMEMACHINE_SPOOL: folder() })), 0);
  const { turns, document } = await machine().replayFull(key);
  assert.deepEqual(turns.map((turn) => [turn.role, turn.output]), [["user", "How long are invoices kept?"]]);
  assert.equal(document.session.name, "Invoices");
});

test("outages neither lose nor double steps, nor change their order", async () => {
  const gate = await new Gate().start();
  const spool = folder();
  const tm = machine({ url: gate.url, spool });
  gate.fates = ["no answer", "no request", "passes", "no answer", "passes", "no request", "no answer"];
  const session = tm.session("Outages");
  for (const number of numbers(300)) {
    if (number % 100 === 50) gate.shut();
    if (number % 100 === 80) gate.open();
    void session.record("agent", number);
    if (number % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assert.ok(await session.flush());
  assert.ok(await session.end());
  gate.close();
  assert.deepEqual(await outputs(machine(), session.key), numbers(300));
  assert.deepEqual(queuesIn(spool), []);
});

const RECORDING = (key: string, end: string): string => `
import { TimeMachine } from "timemachine-client";
const tm = new TimeMachine({ warn: () => {} });
const s = tm.session("Killed", { key: "${key}", end: false });
for (let number = 0; number < 200; number += 1) void s.record("agent", number);
await s.record("agent", 200);
${end}
console.log("recorded");
setInterval(() => {}, 1000);`;

for (const [what, end] of [["record resolved", ""], ["flush was acknowledged", "if (!(await s.flush())) process.exit(3);"]] as const) {
  test(`a process killed after ${what} loses nothing, and the next one delivers`, async () => {
    const [key, spool] = [`killed-${crypto.randomUUID()}`, folder()];
    const child = program(RECORDING(key, end), { TIMEMACHINE_SPOOL: spool });
    assert.match(await printed(child, "recorded"), /recorded/);
    child.kill("SIGKILL");
    await ended(child);
    const next = machine({ spool });
    await next.inSession("Killed", (s) => s.record("agent", 201), { key });
    assert.deepEqual(await outputs(next, key), numbers(202));
    assert.deepEqual(queuesIn(spool), []);
  });
}

test("what a process recorded without a server is delivered by the next one", async () => {
  const gate = await new Gate().start();
  const [key, spool] = [`away-${crypto.randomUUID()}`, folder()];
  gate.shut();
  const source = `import { TimeMachine } from "timemachine-client";
new TimeMachine().inSession("Away", (s) => { for (let n = 0; n < 50; n += 1) s.record("agent", n); }, { key: "${key}" });`;
  assert.equal(await ended(program(source, { TIMEMACHINE_SPOOL: spool, TIMEMACHINE_URL: gate.url, NODE_NO_WARNINGS: "1" })), 0);
  assert.equal(queuesIn(spool).length, 1);
  gate.open();
  assert.ok(await machine({ url: gate.url, spool }).deliverSpooled());
  gate.close();
  assert.deepEqual(await outputs(machine(), key), numbers(50));
  assert.deepEqual(queuesIn(spool), []);
});

test("a queue in use by another process is left to it, unless the process had its id before the machine was restarted", async () => {
  const [key, spool] = [`in-use-${crypto.randomUUID()}`, folder()];
  const child = program(RECORDING(key, ""), { TIMEMACHINE_SPOOL: spool });
  await printed(child, "recorded");
  assert.ok(await machine({ spool }).deliverSpooled());
  const [file] = queuesIn(spool);
  assert.ok(file);
  fs.utimesSync(path.join(spool, file), LONG_AGO, LONG_AGO);
  assert.ok(await machine({ spool }).deliverSpooled());
  child.kill("SIGKILL");
  assert.deepEqual(queuesIn(spool), []);
  assert.deepEqual(await outputs(machine(), key), numbers(201));
});

test("calls are recorded with their results, errors, usage and children", async () => {
  const tm = machine();
  const key = await tm.inSession("Calls", async (s) => {
    await s.llmCall("openai:gpt-4o", [{ role: "user", content: "How long?" }], async () => {
      await s.toolCall("search", { q: "invoices" }, async () => ["ten years"]);
      return { text: "Ten years.", usage: { prompt_tokens: 12, completion_tokens: 4, total_tokens: 16 } };
    });
    await assert.rejects(s.toolCall("pay", { amount: 7n }, () => Promise.reject(new RangeError("no funds"))), RangeError);
    await s.record("assistant", new Map([["paid", false]]), { significance: "decision", tags: ["trial"] });
    return s.key;
  });
  const [search, model, pay, message] = await steps(tm, key);
  assert.deepEqual([search?.tool, search?.output, search?.parent], ["search", ["ten years"], model?.id]);
  assert.deepEqual([model?.usage?.input_tokens, model?.usage?.output_tokens], [12, 4]);
  assert.deepEqual([pay?.input, pay?.error], [{ amount: "7" }, { type: "RangeError", message: "no funds" }]);
  assert.deepEqual([message?.role, message?.output, message?.tags], ["agent", { paid: false }, ["trial"]]);
});

test("an action that the server can never accept is replaced by an event, and the rest is delivered", async () => {
  const tm = machine();
  const session = tm.session("Unfit");
  void session.record("agent", "before");
  void session.add({ kind: "message", role: "agent", output: "unfit", importance: 7 });
  void session.record("agent", "after");
  assert.equal(await session.end(), false);
  const found = await steps(tm, session.key);
  assert.deepEqual(found.map((step) => step.name ?? step.output), ["before", "recorder.refused", "after"]);
});

test("a key whose session has ended gets a session of its own", async () => {
  const tm = machine();
  const key = `twice-${crypto.randomUUID()}`;
  await tm.inSession("First", (s) => s.record("agent", 1), { key });
  const second = tm.session("Second", { key });
  void second.record("agent", 2);
  await second.end();
  assert.match(second.key, new RegExp(`^${key}-`));
  assert.deepEqual([await outputs(tm, key), await outputs(tm, second.key)], [[1], [2]]);
});

async function steps(tm: TimeMachine, key: string) {
  const { data } = await tm.api.GET("/api/sessions/{session_id}/actions", { params: { path: { session_id: key } } });
  return data?.items ?? [];
}
