// Verifies an evidence bundle in this browser with Web Crypto, like tm_verify.py outside of it: the signed statement and every file that it
// names, the position and hash chain of every record, the tree (RFC 6962) of the signed states, every disclosed field against its commitment,
// the status and times of a session against its seal, the chain of signing keys, and the log entry. Lists what is not checked. Loaded on request, and works in steps so that the page stays responsive.

const AT_ONCE = 400;
const MOST_SHOWN = 20;
const STATEMENT = "application/vnd.in-toto+json";
const CHECKPOINT = "application/vnd.timemachine.checkpoint.v1";
const PAIRS = '((?:"[a-z0-9._]+":"[0-9a-f]{64}"(?:,(?=")|(?=\\})))*)';
const ENVELOPE = new RegExp(
  `^\\{"at":"[0-9A-Z:.+-]*","fields":\\{${PAIRS}\\},"id":"([0-9a-f-]{36})","index":(0|[1-9][0-9]{0,14}),` +
    `"kind":"([a-z_]+)",(?:"links":\\{${PAIRS}\\},)?"of":"([a-z]+)","prev":"([0-9a-f]{64})","v":1\\}$`,
);
// The name of a tree: its project, its subject, and the run.
const ORIGIN = /^(timemachine\/[0-9a-zA-Z-]{1,64})\/[a-z]+\/[0-9a-f-]{36}(?:\/([1-9][0-9]{0,9}))?$/;

const decoder = new TextDecoder("utf-8", { fatal: true });
const encoder = new TextEncoder();
const bytes = (text) => encoder.encode(text);
const DIGITS = Array.from({ length: 256 }, (_, each) => each.toString(16).padStart(2, "0"));
const hex = (data) => Array.from(data, (each) => DIGITS[each]).join("");
const unhex = (text) => Uint8Array.from(text.match(/../g) ?? [], (each) => parseInt(each, 16));
const unbase64 = (text) => {
  if (btoa(atob(text)) !== text) throw new Error("it can be written in two ways");
  return Uint8Array.from(atob(text), (each) => each.charCodeAt(0));
};
const only = (value, ...names) => Object.keys(value).sort().join() === names.join();
const pairs = (text) => [...text.matchAll(/"([a-z0-9._]+)":"([0-9a-f]{64})"/g)].map(([, name, value]) => [name, value]);
const written = (value) => JSON.stringify(value).replace(/[\u0080-\uffff]/g, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`);
const soon = () => new Promise((resolve) => setTimeout(resolve));

function joined(parts) {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

const sha256 = async (...parts) => new Uint8Array(await crypto.subtle.digest("SHA-256", joined(parts)));
const leafOf = (data) => sha256([0], data);
const nodeOf = (left, right) => sha256([1], left, right);

// Process many items in batches, and let the page update in between.
async function each(many, work, progress = () => {}) {
  const found = [];
  const began = performance.now();
  for (let at = 0; at < many.length; at += AT_ONCE) {
    found.push(...(await Promise.all(many.slice(at, at + AT_ONCE).map((one, index) => work(one, at + index)))));
    progress(`${found.length} of ${many.length}${pace(found.length, many.length, performance.now() - began)}`);
    await soon();
  }
  return found;
}

// The rate and the time left, after two seconds.
function pace(done, all, milliseconds) {
  if (milliseconds < 2000 || done >= all) return "";
  const rate = done / (milliseconds / 1000);
  const left = Math.max(1, (all - done) / rate);
  const time = left < 60 ? `${Math.round(left)} s` : `${Math.round(left / 60)} min`;
  return ` · ${Math.round(rate).toLocaleString("en")} per second, about ${time} left`;
}

// --- the ZIP file

class Bundle {
  constructor(data) {
    this.data = data;
    this.entries = new Map();
    const view = new DataView(data);
    let end = data.byteLength - 22;
    while (end >= 0 && view.getUint32(end, true) !== 0x06054b50) end--;
    if (end < 0) throw new Error("The download is not a ZIP file");
    this.behind = data.byteLength - end - 22;
    let at = view.getUint32(end + 16, true);
    for (let left = view.getUint16(end + 10, true); left > 0; left--) {
      const [names, extra, comment] = [28, 30, 32].map((offset) => view.getUint16(at + offset, true));
      const name = decoder.decode(new Uint8Array(data, at + 46, names));
      if (this.entries.has(name)) throw new Error("Two files in the ZIP have the same name");
      const begin = view.getUint32(at + 42, true);
      const from = begin + 30 + view.getUint16(begin + 26, true) + view.getUint16(begin + 28, true);
      this.entries.set(name, { packed: view.getUint16(at + 10, true) === 8, from, size: view.getUint32(at + 20, true) });
      at += 46 + names + extra + comment;
    }
  }

  async bytes(name) {
    const entry = this.entries.get(name);
    if (!entry) return new Uint8Array();
    const stream = new Blob([new Uint8Array(this.data, entry.from, entry.size)]).stream();
    const whole = entry.packed ? stream.pipeThrough(new DecompressionStream("deflate-raw")) : stream;
    return new Uint8Array(await new Response(whole).arrayBuffer());
  }

  async lines(name) {
    return decoder.decode(await this.bytes(name)).split("\n").filter((line) => line);
  }

  async document(name) {
    return JSON.parse(decoder.decode(await this.bytes(name)));
  }
}

// --- checking

class Check {
  constructor(bundle, progress, wanted = {}) {
    Object.assign(this, { bundle, progress, wanted, faults: [], unchecked: new Set(), beside: [], leaves: new Map(), linked: [], ofTrees: new Map(), shown: [], signers: new Map() });
    this.counts = { files: 0, signatures: 0, records: 0, fields: 0, erased: 0, withheld: 0, misfits: 0, links: 0 };
  }

  fault(where, says) {
    this.faults.push({ where, says });
  }

  // Return the result of `work`, or record a fault at its place if the input does not have the required form.
  async at(where, work) {
    try {
      return await work();
    } catch {
      this.fault(where, "Unreadable: it is damaged or was changed.");
      return undefined;
    }
  }

  async run() {
    this.keys = (await this.at("keys.json", () => this.publicKeys())) ?? new Map();
    const signed = await this.bundle.document("statement.json");
    const statement = JSON.parse(decoder.decode(unbase64(signed.payload)));
    this.key = signed.signatures[0].keyid;
    await this.opened(signed, STATEMENT, "statement.json");
    this.subject = statement.subject[0].name;
    this.ofThePage();
    const { trees, files } = statement.predicate;
    this.root = trees[0].root;
    if (statement.subject[0].digest.sha256 !== trees[0].root) this.fault("statement.json", "Its subject is not its first tree.");
    await this.files(files);
    await this.at("payloads.jsonl", () => this.payloads());
    for (const tree of trees) {
      await this.at(`${tree.path} records`, async () => {
        const lines = await this.records(tree);
        const { records } = lines;
        this.leftOut(tree, records, tree === trees[0]);
        await this.states(tree, lines, tree.of === "session" ? aboutSession(statement.predicate.about ?? {}, tree) : undefined);
        await this.told(tree, records);
      });
    }
    this.links();
    await this.chainOfKeys();
    this.beside.push("report.html, README.txt and the names in the statement: they are signed, but not compared with the records");
    const names = [...this.bundle.entries.keys()];
    if (names.some((name) => name.startsWith("timestamps/"))) this.beside.push("the timestamps (use tm_verify.py)");
    if (names.some((name) => name.endsWith("/earlier.json"))) this.unchecked.add("whether earlier seals are in the signed log");
    if (names.some((name) => name.endsWith("/erased.json"))) this.unchecked.add("whether the tombstones of erased fields are in the signed log");
    return this;
  }

  // It is evidence of what the page shows, signed by the key that the page names, and nothing follows the ZIP file.
  ofThePage() {
    const { subject, key } = this.wanted;
    const [, , of, id] = this.subject.split("/");
    if (subject && subject !== `${of}/${id}`) {
      this.fault("statement.json", `This is evidence of something else, the ${of} ${id}. This page shows the ${subject.replace("/", " ")}.`);
    }
    if (key && key !== this.key) this.fault("statement.json", `It is signed by the key ${this.key}, but this page names ${key}. If the key was replaced in the meantime, reload the page.`);
    this.isOfThePage = Boolean(key);
    this.beside.push("whose key signed it: anyone can sign a bundle with a key of their own, and name that key on a page of their own");
    if (this.bundle.behind) this.fault("the end of the zip", `After its end ${this.bundle.behind === 1 ? "there is 1 byte" : `there are ${this.bundle.behind} bytes`} not covered by any file or signature.`);
    this.beside.push("bytes between the files of the ZIP (use tm_verify.py)");
  }

  async publicKeys() {
    const known = new Map();
    for (const { public_key, fingerprint, pem } of await this.bundle.document("keys.json")) {
      const raw = unbase64(public_key);
      const info = joined([unhex("302a300506032b6570032100"), raw]);
      const name = `ed25519:${hex(await sha256(info))}`;
      const block = `-----BEGIN PUBLIC KEY-----\n${btoa(String.fromCharCode(...info))}\n-----END PUBLIC KEY-----\n`;
      if ((fingerprint ?? name) !== name || (pem ?? block) !== block) this.fault("keys.json", `The details of the key ${name} belong to a different key.`);
      known.set(name, raw);
    }
    return known;
  }

  // Return the signed bytes (DSSE); undefined, with a fault, if the signature is not valid.
  async opened(signed, type, where) {
    const payload = unbase64(signed.payload);
    const [signature, another] = signed.signatures;
    const { keyid, sig } = signature;
    if (another || !only(signed, "payload", "payloadType", "signatures") || !only(signature, "keyid", "sig")) {
      this.fault(where, "It contains more than is signed.");
    }
    const raw = this.keys.get(keyid);
    const kind = bytes(signed.payloadType);
    const message = joined([bytes(`DSSEv1 ${kind.length} `), kind, bytes(` ${payload.length} `), payload]);
    if (signed.payloadType !== type || !raw) {
      this.fault(where, "It is signed as a different type, or by a key that is not in the bundle.");
      return undefined;
    }
    let key;
    try {
      key = await crypto.subtle.importKey("raw", raw, { name: "Ed25519" }, false, ["verify"]);
    } catch {
      this.unchecked.add("the signatures, because this browser does not support Ed25519");
      return payload;
    }
    if (await crypto.subtle.verify("Ed25519", key, unbase64(sig), message)) {
      this.counts.signatures++;
      if (!this.signers.has(keyid)) this.signers.set(keyid, where);
      return payload;
    }
    this.fault(where, "Invalid signature: it, or the signed content, was changed.");
    return undefined;
  }

  async files(stated) {
    const here = [...this.bundle.entries.keys()].filter((name) => name !== "statement.json");
    for (const name of new Set([...here, ...Object.keys(stated)])) {
      this.progress(`Hashing ${name}`);
      if (!here.includes(name)) this.fault(name, "The statement names this file, but it is not in the bundle.");
      else if (!(name in stated)) this.fault(name, "The statement does not name this file: it was added.");
      else {
        const found = await this.at(name, async () => hex(await sha256(await this.bundle.bytes(name))));
        if (found === stated[name]) this.counts.files++;
        else if (found) this.fault(name, "The file differs from the signed one: it was changed.");
      }
    }
  }

  async payloads() {
    this.known = new Set();
    await each(await this.bundle.lines("payloads.jsonl"), async (line) => {
      const found = JSON.parse(line);
      const made = hex(await sha256(found.base64 === undefined ? bytes(found.text) : unbase64(found.base64)));
      if (made === found.sha256) this.known.add(made);
      else this.fault(`payload ${found.sha256}`, "Its bytes were changed.");
    });
  }

  // The records of a tree by index, in order.
  async records(tree) {
    const lines = await this.bundle.lines(`${tree.path}/records.jsonl`);
    const leaves = await each(lines, (line) => leafOf(bytes(line)), (part) => this.progress(`Records ${part}`));
    const { found, order, unlinked, doubles } = this.sealed(tree, lines, leaves);
    const kept = inPlace(order);
    for (const [at, record] of doubles) if (kept.has(at)) found.set(order[at], record);
    const damaged = this.misplaced(tree, order, kept);
    const placed = new Set([...kept].map((at) => order[at]));
    for (const index of found.keys()) if (damaged.size && index >= tree.size && !placed.has(index)) found.delete(index);
    if (tree.complete) this.gaps(tree, [...damaged, ...found.keys()], damaged);
    const sorted = new Map([...found].sort(([one], [other]) => one - other));
    for (const [index, record] of sorted) {
      this.leaves.set(hex(record.leaf), { of: tree.of, id: tree.id, index, kind: record.kind });
      if (record.linked.length || (tree.of === "replay" && index > 0)) this.linked.push({ tree, index, record });
      if (index === 0) this.ofTrees.set(tree, record);
    }
    this.counts.records += sorted.size;
    return { records: sorted, unlinked, damaged };
  }

  // The records by index; the index of each line, and which records are unlinked or duplicated.
  sealed(tree, lines, leaves) {
    const [found, order, unlinked, doubles] = [new Map(), [], new Map(), new Map()];
    let previous = "0".repeat(64);
    for (const [number, line] of lines.entries()) {
      const match = ENVELOPE.exec(line);
      if (!match) {
        order.push(-1);
        continue;
      }
      const [, fields, id, written, kind, links, of, prev] = match;
      const index = Number(written);
      if (id !== tree.id || of !== tree.of) this.fault(`${tree.path} record ${index}`, "It is a record of something else.");
      if (prev !== previous) unlinked.set(index, { prev, mended: line.replace(`"prev":"${prev}"`, `"prev":"${previous}"`) });
      const record = { leaf: leaves[number], fields: pairs(fields), kind, linked: pairs(links ?? "").map(([, linked]) => linked) };
      if (found.has(index)) doubles.set(number, record);
      else found.set(index, record);
      order.push(index);
      previous = hex(leaves[number]);
    }
    return { found, order, unlinked, doubles };
  }

  // Report lines that are not records (-1) or out of place.
  misplaced(tree, order, kept) {
    const [there, placed, damaged] = [new Set(order), new Set([...kept].map((at) => order[at])), new Set()];
    let before = -1;
    for (const [at, index] of order.entries()) {
      if (kept.has(at)) {
        before = index;
        continue;
      }
      const lost = !there.has(before + 1) && before + 1 < tree.size;
      if (lost && (index < 0 || placed.has(index) || index >= tree.size)) damaged.add(++before);
      const where = (one) => `${tree.path} record ${one}`;
      const line = `Line ${at + 1} of its records`;
      if (index < 0) this.fault(damaged.has(before) ? where(before) : `${tree.path} line ${at + 1}`, `${line} is not a valid sealed record: it was changed or added.`);
      else if (damaged.has(before)) this.fault(where(before), `It was changed: ${line.toLowerCase()} is in its place and claims to be record ${index}.`);
      else if (placed.has(index)) {
        damaged.add(index);
        this.fault(where(index), `${line} repeats it: it was duplicated.`);
      } else this.fault(where(index), `It comes after record ${before}: it was moved.`);
    }
    return damaged;
  }

  // Report the first record of each gap; records missing after the last one are reported with the tree's state.
  gaps(tree, there, damaged) {
    let before = -1;
    for (const index of there.sort((one, other) => one - other)) {
      const gone = index - before - 1;
      if (gone > 0 && before + 1 < tree.size) {
        damaged.add(before + 1);
        this.fault(`${tree.path} record ${before + 1}`, `It is missing${gone > 1 ? `, the first of ${gone}` : ""}: the next one is record ${index}.`);
      }
      before = index;
    }
  }

  // Of two records with a broken link, report the changed one.
  async chained(tree, { records, unlinked, damaged }, end) {
    const changed = new Set();
    for (const [index, { prev, mended }] of [...unlinked].sort(([one], [other]) => one - other)) {
      const before = records.get(index - 1);
      if (index && (!before || hex(before.leaf) === prev)) continue;
      if (!index || hex(await leafOf(bytes(mended))) === (unlinked.get(index + 1)?.prev ?? end)) {
        changed.add(index);
        this.fault(`${tree.path} record ${index}`, "It was changed: it names a different previous record.");
      } else if (!damaged.has(index - 1)) {
        changed.add(index - 1);
        this.fault(`${tree.path} record ${index - 1}`, `It was changed: record ${index} was sealed after a different one.`);
      }
    }
    for (const index of changed) damaged.add(index);
  }

  // A bundle has all records up to a step, except for a comparison, where some may be withheld; and more than record 0 of every tree.
  leftOut(tree, records, isSubject) {
    const where = `${tree.path} records`;
    const many = tree.complete ? tree.size : records.size;
    if (many < 2 || (!tree.complete && !records.has(0))) this.fault(where, `It shows nothing of the ${tree.of}: record 0 and at least one more are required.`);
    if (tree.complete || !isSubject) return;
    const left = tree.size - records.size;
    if (tree.withholds === false || tree.of !== "comparison") this.fault(where, `It is evidence of this ${tree.of}, but leaves out ${left} of ${tree.size} records.`);
    else if (left > 0) this.beside.push(`${left} records of the ${tree.of} that are not shown`);
  }

  // A step that repeats a record names it by its leaf hash: that record is in the bundle, and is the step it claims to repeat.
  links() {
    const behind = new Map();
    const silent = new Map();
    for (const { tree, index, record } of this.linked) {
      const where = `${tree.path} record ${index}`;
      const isStep = tree.of === "replay";
      const facts = record.facts ?? {};
      const session = isStep ? this.ofTrees.get(tree)?.facts?.session : facts.session;
      if (facts.sequence === undefined) silent.set(tree, (silent.get(tree) ?? 0) + 1);
      if (!record.linked.length) this.fault(where, "It is a step of a replay, but does not name the record it repeats.");
      for (const leaf of record.linked) {
        const there = this.leaves.get(leaf);
        const wanted = { of: "session", id: session, index: facts.sequence, kind: isStep ? record.kind : facts.kind };
        if (!there) this.fault(where, "It repeats a record that is not in the bundle or was changed.");
        else if (Object.entries(wanted).some(([name, value]) => value !== undefined && value !== there[name])) {
          this.fault(where, `It claims to repeat something different from the record it names: record ${there.index} of the ${there.of} ${there.id}, ${there.kind}.`);
        } else if (isStep && there.index <= (behind.get(tree) ?? 0)) {
          this.fault(where, `It repeats record ${there.index} of the session after record ${behind.get(tree) ?? 0}: its link or its position was changed.`);
        } else {
          this.counts.links++;
          behind.set(tree, there.index);
        }
      }
    }
    for (const [tree, many] of silent) this.beside.push(`which steps ${many} records of the ${tree.of} repeat, because their facts are withheld`);
  }

  // The signed states of a tree: the tree over its records has their roots, or an audit path proves each record.
  async states(tree, lines, about) {
    const { records, damaged } = lines;
    const stated = [];
    for (const [number, line] of (await this.bundle.lines(`${tree.path}/checkpoints.jsonl`)).entries()) {
      const where = `${tree.path} checkpoint ${number + 1}`;
      const state = await this.at(where, () => this.state(JSON.parse(line), where));
      if (state && state.origin !== tree.origin) this.fault(where, `It is of ${state.origin}.`);
      else if (state) stated.push({ ...state, where });
    }
    const last = stated.at(-1);
    if (tree.complete) await this.chained(tree, lines, last?.last);
    if (!last || last.size !== tree.size || hex(last.root) !== tree.root) {
      this.fault(`${tree.path} checkpoints`, "No signed state matches the statement.");
      return;
    }
    if (about) this.sessionValues(tree, stated, about);
    const itself = this.shown.length ? "" : ` (the first is the ${tree.of} itself)`;
    this.shown.push(`${tree.of} ${tree.id}: ${records.size.toLocaleString("en")} of ${last.size.toLocaleString("en")} records shown${itself}, sealed at ${last.at}`);
    if (tree.complete) await this.whole(tree, stated, last, lines);
    else await this.paths(tree, last, records);
    await this.at(`${tree.path} log entry`, () => this.entry(tree, last));
  }

  // The tree over the records before the first damaged one has the signed roots.
  async whole(tree, stated, last, { records, damaged }) {
    const there = [...records.keys(), ...damaged].sort((one, other) => one - other);
    const end = (there.at(-1) ?? -1) + 1;
    if (end < last.size) this.fault(`${tree.path} record ${end}`, `It is missing: the records end before it, but the signed state has ${last.size}.`);
    else if (end > last.size) this.fault(`${tree.path} record ${there.find((index) => index >= last.size)}`, `It was added: the signed state has ${last.size} records.`);
    const sound = damaged.size ? there.find((index) => damaged.has(index)) : end;
    await this.roots(tree, stated.filter(({ size }) => size <= sound), [...records.values()].slice(0, sound).map(({ leaf }) => leaf));
  }

  async state(signed, where) {
    const payload = await this.opened(signed, CHECKPOINT, where);
    if (!payload) return undefined;
    const [origin, size, root, ...facts] = decoder.decode(payload).split("\n");
    const at = facts.find((fact) => fact.startsWith("at "))?.slice(3) ?? "an unknown time";
    const ends = facts.find((fact) => fact.startsWith("last "))?.slice(5);
    const [status, started, ended, more] = ["status", "started", "ended", "state"].map((name) => facts.find((fact) => fact.startsWith(`${name} `))?.slice(name.length + 1));
    return { origin, size: Number(size), root: unbase64(root), at, last: ends, hasEnded: (status ?? more) === "ended" || (!status && more === "closed"), status, started, ended };
  }

  // The status, start and end of a session in the statement are the signed ones, and a session that has ended does not go on.
  sessionValues(tree, states, about) {
    const ended = states.filter(({ hasEnded }) => hasEnded).at(-1);
    if (ended && (about.status ?? "ended") !== "ended") this.fault("statement.json", `It says that the session's status is ${about.status}. It must be ended, as sealed in ${ended.where}.`);
    for (const [name, state] of [["started", states.at(-1)], ["ended", ended]]) {
      const at = state?.[name];
      const here = about[`${name}_at`] === undefined ? at : (about[`${name}_at`] ?? "unknown");
      const isMoved = name === "ended" && !tree.complete && typeof here === "string" && here !== "unknown" && (at === "unknown" || moment(here) > moment(at));
      if (at && here !== at && !isMoved) this.fault("statement.json", `It says that the session ${name} at ${here}. It must be ${at}, as sealed in ${state.where}.`);
    }
    for (const [index, state] of states.entries()) {
      const before = states[index - 1];
      if (before?.hasEnded && state.status && state.status !== "ended") this.fault(state.where, `It says that the session's status is ${state.status}, but ${before.where} says that it had ended.`);
      if (before?.ended && before.ended !== "unknown" && state.ended && (state.ended === "unknown" || moment(state.ended) < moment(before.ended))) {
        this.fault(state.where, `It says that the session ended at ${state.ended}, but ${before.where} says ${before.ended}. An end only moves to a later time.`);
      }
      if (before?.started && state.started && state.started !== before.started) this.fault(state.where, `It says that the session started at ${state.started}, but ${before.where} says ${before.started}.`);
    }
  }

  // The bundle's key signed everything, or replaced the keys that did, according to the project's log.
  async chainOfKeys() {
    const replaced = [];
    if (this.bundle.entries.has("replaced.json")) {
      await this.at("replaced.json", async () => {
        for (const { checkpoint, entries } of await this.bundle.document("replaced.json")) {
          const state = await this.state(checkpoint, "replaced.json");
          for (const { entry, index, path } of entries) {
            if (state && (await leadsTo(state, await leafOf(bytes(entry)), index, path))) replaced.push(JSON.parse(entry));
            else this.fault("replaced.json", "A replacement of a key is not in the signed log.");
          }
        }
      });
    }
    const chain = new Set([this.key]);
    for (const key of chain) for (const each of replaced) if (each.entry === "key" && each.key === key) chain.add(each.replaces);
    for (const [key, where] of this.signers) {
      if (!chain.has(key)) this.fault(where, `It is signed by ${key}, and statement.json by ${this.key}: no entry of the log says that this key replaced it.`);
    }
  }

  async roots(tree, stated, leaves) {
    const levels = [leaves];
    while (levels.at(-1).length > 1) {
      const below = levels.at(-1);
      const left = Array.from({ length: below.length >> 1 }, (_, index) => index * 2);
      levels.push(await each(left, (index) => nodeOf(below[index], below[index + 1])));
    }
    for (const { where, size, root, last } of stated) {
      const peaks = [];
      for (let height = levels.length - 1, begin = 0; height >= 0; height--) {
        if (!(Math.floor(size / 2 ** height) % 2)) continue;
        peaks.push(levels[height][begin / 2 ** height]);
        begin += 2 ** height;
      }
      let made = peaks.pop();
      while (peaks.length) made = await nodeOf(peaks.pop(), made);
      if (hex(made) === hex(root)) continue;
      if (hex(leaves[size - 1]) !== last) this.fault(`${tree.path} record ${size - 1}`, `It was changed: the signed state of ${size} records ends with a different one.`);
      else this.fault(where, `The tree over the first ${size} records has a different root than the signed one.`);
    }
  }

  async paths(tree, last, records) {
    const shown = new Set();
    for (const line of await this.bundle.lines(`${tree.path}/proofs.jsonl`)) {
      const { index, path } = JSON.parse(line);
      shown.add(index);
      const leaf = records.get(index)?.leaf;
      if (!leaf || !(await leadsTo(last, leaf, index, path))) this.fault(`${tree.path} record ${index}`, "It is missing, or not in the signed tree.");
    }
    for (const index of records.keys()) {
      if (!shown.has(index)) this.fault(`${tree.path} record ${index}`, "There is no proof that it is in the signed tree.");
    }
  }

  async entry(tree, last) {
    const where = `${tree.path} log entry`;
    const { entry, index, path, checkpoint } = await this.bundle.document(`${tree.path}/log.json`);
    const state = await this.state(checkpoint, where);
    const said = JSON.parse(entry);
    const [, project, run] = ORIGIN.exec(tree.origin) ?? [];
    const whose = said.of === tree.of && said.id === tree.id && said.generation === Number(run ?? 1);
    if (!whose || said.size !== last.size || said.root !== tree.root) this.fault(where, "It refers to something else.");
    else if (state && state.origin !== `${project}/log`) this.fault(where, "It is in the log of another project.");
    else if (state && !(await leadsTo(state, await leafOf(bytes(entry)), index, path))) this.fault(where, "It is not in the signed log.");
  }

  // The fields named by the tombstones of a tree, by record. tm_verify.py checks whether they are in the signed log.
  async tombstones(tree) {
    const name = `${tree.path}/erased.json`;
    const gone = new Map();
    if (!this.bundle.entries.has(name)) return gone;
    await this.at(name, async () => {
      for (const { entry } of (await this.bundle.document(name)).entries) {
        for (const [index, names] of JSON.parse(entry).records) gone.set(index, new Set([...(gone.get(index) ?? []), ...names]));
      }
    });
    return gone;
  }

  // If the statement says that nothing is withheld, every missing field was erased and has a tombstone.
  missing(tree, records, gone) {
    for (const [index, { fields, untold }] of records) {
      for (const [name] of untold ?? fields) {
        if (gone.get(index)?.has(name)) continue;
        this.counts.misfits++;
        this.fault(`${tree.path} record ${index} ${name}`, "It is missing, and there is no tombstone of an erasure.");
      }
    }
  }

  // Every disclosed field matches its commitment.
  async told(tree, records) {
    const lines = await this.bundle.lines(`${tree.path}/disclosed.jsonl`);
    const gone = await this.tombstones(tree);
    const seen = new Set();
    let right = 0;
    let wrong = 0;
    await each(
      lines,
      async (line, number) => {
        const found = await this.at(`${tree.path} disclosed line ${number + 1}`, () => JSON.parse(line));
        const record = records.get(found?.index);
        if (found && !record && written(found) === line) {
          this.fault(`${tree.path} record ${found.index}`, "Its fields are present, but the record is missing.");
          return;
        }
        if (!record || seen.has(found.index) || written(found) !== line) {
          this.fault(`${tree.path} disclosed line ${number + 1}`, "It belongs to no record, repeats one, or is ambiguous.");
          return;
        }
        seen.add(found.index);
        const sealed = new Map(record.fields);
        record.untold = sealed;
        for (const [name, [salt, text, payload]] of Object.entries(found.fields)) {
          const where = `${tree.path} record ${found.index} ${name}`;
          const digest = text === null ? unhex(payload) : await sha256(bytes(text));
          const made = hex(await sha256(bytes("tm-commit-v1\0"), unhex(salt), digest));
          const here = text !== null || this.known?.has(payload);
          const commitment = sealed.get(name);
          sealed.delete(name);
          gone.get(found.index)?.delete(name);
          if (here && made === commitment) {
            right++;
            if (name === "facts" && text !== null && (record.linked.length || found.index === 0)) record.facts = JSON.parse(text);
          } else {
            if (commitment !== undefined) wrong++;
            this.fault(where, here ? "It differs from the seal: it or its salt was changed." : "Its payload is not in the bundle.");
          }
        }
      },
      (part) => this.progress(`Fields of record ${part}`),
    );
    this.counts.fields += right;
    this.counts.misfits += wrong;
    const untold = [...records.values()].reduce((sum, { fields }) => sum + fields.length, 0) - right - wrong;
    const named = [...gone].filter(([index, names]) => records.has(index) && names.size);
    const sealed = ([index, names]) => records.get(index).fields.filter(([name]) => names.has(name)).length;
    const erased = tree.withholds ? (tree.erased?.fields ?? 0) : named.reduce((sum, one) => sum + sealed(one), 0);
    if (erased > untold) this.fault(`${tree.path} erased`, `The statement says that ${erased} fields were erased, but ${untold} are missing.`);
    else if (erased && tree.withholds) this.unchecked.add(`${inWords("erased", erased)} of the ${tree.of}: reported by the server, without a tombstone`);
    this.counts.erased += Math.min(erased, untold);
    if (tree.withholds !== false) this.counts.withheld += untold - Math.min(erased, untold);
    else this.missing(tree, records, gone);
  }
}

// What the statement says about the session of a tree; a statement about one session may leave out its id.
function aboutSession({ session, sessions }, { id }) {
  return (session ? [{ id, ...session }] : (sessions ?? [])).find((each) => each.id === id);
}

// A sortable form of a time (RFC 3339, in UTC).
const moment = (at) => `${at.slice(0, 19)} ${at.slice(19).replace("Z", "")}`;

// The longest increasing subsequence of lines.
function inPlace(order) {
  if (order.every((index, at) => index > (order[at - 1] ?? -1))) return new Set(order.keys());
  const [ends, places, behind] = [[], [], new Map()];
  for (let at = order.length - 1; at >= 0; at--) {
    if (order[at] < 0) continue;
    let [height, beyond] = [0, ends.length];
    while (height < beyond) {
      const half = (height + beyond) >> 1;
      if (ends[half] > order[at]) height = half + 1;
      else beyond = half;
    }
    behind.set(at, places[height - 1]);
    [ends[height], places[height]] = [order[at], at];
  }
  const kept = new Set();
  for (let at = places.at(-1); at !== undefined; at = behind.get(at)) kept.add(at);
  return kept;
}

// Return whether an audit path (RFC 6962) leads from a leaf to the root of a signed state.
async function leadsTo({ size, root }, leaf, index, path) {
  const turns = [];
  for (let begin = 0, end = size; end - begin > 1; ) {
    let half = 1;
    while (half * 2 < end - begin) half *= 2;
    turns.push(index >= begin + half);
    if (index >= begin + half) begin += half;
    else end = begin + half;
  }
  if (!(index >= 0 && index < size) || turns.length !== path.length) return false;
  let made = leaf;
  for (const beside of path) made = turns.pop() ? await nodeOf(unhex(beside), made) : await nodeOf(made, unhex(beside));
  return hex(made) === hex(root);
}

// --- the result on the page

// Return the root that was checked; undefined if the check did not get that far. `wanted` is the thing that the page shows, and the key
// that it names.
export async function checkHere(address, place, wanted) {
  const say = (words) => place.replaceChildren(line("p", "Verifying…", "result-word"), line("p", words, "quiet"));
  const nothing = (words) => finish(place, "none", line("p", "Nothing was checked", "result-word"), line("p", words));
  if (!globalThis.isSecureContext || !globalThis.crypto?.subtle) {
    nothing("Browsers compute hashes only on pages loaded over https or from this machine.");
    return undefined;
  }
  try {
    say("Downloading the evidence…");
    const answer = await fetch(address, { credentials: "same-origin", cache: "no-store" });
    if (answer.status === 429) {
      nothing(`Too many downloads of the evidence. Try again in ${answer.headers.get("Retry-After")} s.`);
      return undefined;
    }
    if (!answer.ok) throw new Error(`The evidence could not be downloaded (${answer.status})`);
    const check = await new Check(new Bundle(await answer.arrayBuffer()), say, wanted).run();
    finish(place, kindOf(check), ...resultParts(check));
    document.body.dispatchEvent(new Event("checked"));
    return check.root;
  } catch (why) {
    finish(place, "bad", line("p", "Not verified", "result-word"), line("p", `${why.message}.`));
    return undefined;
  }
}

function finish(place, kind, ...parts) {
  place.dataset.result = kind;
  place.replaceChildren(...parts);
}

// The names of the counts; the first word takes the plural.
const COUNTED = { files: "file", signatures: "signature", records: "record", fields: "field", erased: "field erased permanently", withheld: "field withheld", misfits: "field that does not match", links: "link between records" };
const MANY = { misfits: "fields that do not match" };
const inWords = (name, count) => `${count.toLocaleString("en")} ${count === 1 ? COUNTED[name] : MANY[name] ?? COUNTED[name].replace(/^\w+/, "$&s")}`;

// The result in one word, and in one sentence.
const RESULTS = {
  bad: ["Not verified", "The evidence differs from what was sealed. Do not rely on it."],
  part: ["Partly checked", "No fault was found, but not everything could be checked here. Use tm_verify.py for the rest."],
  open: ["Consistent, signer not checked", "Nothing that the evidence shows has changed since the key below sealed it. This page names no key to compare it with."],
  ok: ["Consistent, signer not checked", "Nothing that the evidence shows has changed since the key below sealed it, and this page names the same key. Your browser checked both."],
};

function kindOf({ faults, unchecked, isOfThePage }) {
  if (faults.length) return "bad";
  if (unchecked.size) return "part";
  return isOfThePage ? "ok" : "open";
}

function* resultParts(check) {
  const { faults, unchecked, beside, counts, key, root, subject, shown } = check;
  const [word, sentence] = RESULTS[kindOf(check)];
  yield line("p", faults.length ? `${word}: ${faults.length === 1 ? "1 fault" : `${faults.length} faults`}` : word, "result-word");
  yield line("p", sentence);
  const isSigned = !faults.length && counts.signatures > 0;
  if (isSigned) {
    yield line("p", `Signed by ${key}`, "mono");
    yield line("p", `Root ${root}`, "mono");
    yield line("p", "To check the signer, compare this fingerprint with one that you got another way.");
  }
  for (const each of shown) yield line("p", `${each}.`);
  if (faults.length) {
    const list = document.createElement("ul");
    list.className = "faults";
    list.append(...faults.slice(0, MOST_SHOWN).map(({ where, says }) => line("li", `${where}: ${says}`)));
    if (faults.length > MOST_SHOWN) list.append(line("li", `and ${faults.length - MOST_SHOWN} more`));
    yield list;
  }
  for (const what of unchecked) yield line("p", `Not checked: ${what}.`);
  const details = document.createElement("details");
  const counted = Object.entries(counts).filter(([, count]) => count);
  details.append(
    line("summary", "What was checked, and what not"),
    line("p", `${counted.map(([name, count]) => inWords(name, count)).join(", ")}.`),
    ...beside.map((what) => line("p", `Not checked: ${what}.`)),
    line("p", isSigned ? subject : `${subject}, which names ${key} as its signer`, "hash"),
  );
  yield details;
}

function line(tag, words, kind = "") {
  const made = document.createElement(tag);
  made.textContent = words;
  if (kind) made.className = kind;
  return made;
}
