import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { ClientError, NoServer, NotRecorded, Refused, Unreachable, type Fetch } from "timemachine-client";
import { machine } from "./support.js";

test("an ask is recorded, and a replay of it with another model can be waited for", async () => {
  const tm = machine();
  const key = await tm.inSession("Asked", async (s) => {
    await s.put("Invoices are kept for ten years. They are kept on paper.", { title: "Retention" });
    assert.equal((await s.find("invoices", { top_k: 1 })).hits.length, 1);
    assert.match(String((await s.ask("How long are invoices kept?", { use_model: "local:extractive-1" })).answer), /ten years/);
    return s.key;
  }, { collection: `handbook-${crypto.randomUUID().slice(0, 8)}` });
  const states: string[] = [];
  const replay = await tm.replay(key, { audit: true, reason: "Another model", use_model: "local:extractive-3" });
  const result = await replay.wait({ timeout: 60_000, seen: (state) => states.push(state.status) });
  assert.equal(result.status, "done");
  assert.equal(states.at(-1), "done");
  const asked = (await result.steps()).filter((step) => step.kind === "ask");
  assert.deepEqual(asked.map((step) => step.context), ["verified"]);
});

test("decisions are replayed with the tokens saved, and a checkpoint is resumed in a branch", async () => {
  const tm = machine();
  const parent = await tm.inSession("Pool", async (s) => {
    void s.record("user", "The deploy fails: the connection pool is exhausted, and nobody knows since when or why.");
    void s.record("agent", "Close the connection after each job.", { significance: "solution" });
    void s.checkpoint("solved", { messages: [{ role: "user", content: "Go on." }], environment: { API_KEY: "sk-1", HOME: "/root" } });
    return s.key;
  }, { agent: "desk" });
  const [full, decided] = [await tm.replayFull(parent), await tm.replayDecisionsOnly(parent)];
  assert.equal(full.tokensSaved, 0);
  assert.deepEqual(decided.turns.map((turn) => turn.output), ["Close the connection after each job."]);
  assert.ok(decided.tokensSaved > 0 && decided.tokens + decided.tokensSaved === full.tokens);
  assert.match(await tm.transcriptText(parent, { significance: ["solution"] }), /Close the connection/);
  const resumed = await tm.resume(parent, "solved");
  assert.deepEqual(resumed.messages, [{ role: "user", content: "Go on." }]);
  assert.deepEqual(resumed.state.environment, { API_KEY: "[withheld: secret]", HOME: "/root" });
  await resumed.session.end();
  for await (const session of tm.sessions({ agent: "desk", limit: 1 } as object)) {
    assert.equal(session.key, resumed.session.key);
    break;
  }
});

test("context for a question comes from earlier sessions", async () => {
  const tm = machine();
  const word = `zeppelin${crypto.randomUUID().slice(0, 6)}`;
  await tm.inSession("Earlier", (s) => s.record("agent", `The ${word} needs helium.`, { significance: "solution" }));
  for (let tries = 0; ; tries += 1) {
    const context = await tm.contextFor(`What does the ${word} need?`, { mode: "text", budget: 200 });
    if (context.text.includes("helium") || tries === 60) {
      assert.match(context.text, /needs helium/);
      assert.match(JSON.stringify(context.results), /helium/);
      break;
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
});

test("a refusal has the code, the message and the facts of the API", async () => {
  const missing = await machine().replayFull("no-such-session").catch((why: unknown) => why);
  assert.ok(missing instanceof Refused && missing instanceof ClientError);
  assert.deepEqual([missing.status, missing.code, typeof missing.message], [404, "session_not_found", "string"]);
  const invalid = await machine().api.GET("/api/sessions", { params: { query: { limit: 0 } } }).catch((why: unknown) => why);
  assert.ok(invalid instanceof Refused && invalid.status === 422 && Object.keys(invalid.facts).length > 0);
});

test("a server that is away, slow or of another kind is named, and a signal ends a request", async () => {
  await assert.rejects(machine({ url: "http://127.0.0.1:1" }).replayFull("any"), Unreachable);
  await assert.rejects(machine({ url: "http://127.0.0.1:1" }).session("Away").ask("Is anyone there?", {}, AbortSignal.timeout(200)), { name: "TimeoutError" });
  assert.throws(() => machine({ url: "ftp://example.org" }).api, NoServer);
  const slow = createServer(() => {});
  await new Promise<void>((resolve) => slow.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(slow.address() as AddressInfo).port}`;
  const timedOut = await machine({ url, apiKey: "tmk_x", timeout: 100 }).replayFull("any").catch((why: unknown) => why);
  assert.ok(timedOut instanceof Unreachable && timedOut.code === "timeout");
  const signal = AbortSignal.timeout(50);
  const call = machine({ url, apiKey: "tmk_x" }).api.GET("/api/costs", { signal });
  await assert.rejects(call, { name: "TimeoutError" });
  slow.closeAllConnections();
  slow.close();
});

test("requests go through the fetch that is given, and only a delivered session can be asked", async () => {
  const asked: string[] = [];
  const through: Fetch = (url, init) => {
    asked.push(`${init.method} ${new URL(url).pathname}`);
    return fetch(url, init);
  };
  const tm = machine({ fetch: through });
  const session = tm.session("Through");
  await session.end();
  await tm.api.GET("/api/costs");
  assert.deepEqual(asked.map((each) => each.split(" ")[0]), ["POST", "POST", "GET"]);
  const stuck = machine({ apiKey: "tmk_wrong" }).session("Wrong key");
  await assert.rejects(stuck.find("anything"), NotRecorded);
});
