import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { threadId } from "node:worker_threads";
import { firstOf, MemoryQueue, type Header, type Line, type Queue } from "../queue.js";

/*
 * A file has the position up to which its lines are delivered (16 digits), the header as JSON, then one line for each action. Its name,
 * `TIME-PID.THREAD-RANDOM.queue.jsonl`, says who writes it. A process takes a file over by renaming it, so only one can.
 */

const SUFFIX = ".queue.jsonl";
const DIGITS = 16;
const NOBODY = "0.0";
const BEAT = 15_000;
const SILENT = 60_000; // milliseconds after which the writer on another machine or thread counts as ended
const LARGEST_DELIVERED = 8 * 1024 * 1024;
const READ = 1024 * 1024;

/** The files of this thread, also if it loaded this module twice. */
const open: Set<FileQueue> = ((globalThis as Record<symbol, unknown>)[Symbol.for("timemachine-client.queues")] ??= new Set()) as Set<FileQueue>;

/** A queue in a file: what was appended survives the process, and what was stored survives the machine. */
export class FileQueue implements Queue {
  #path: string;
  #fd: number;
  #end: number;
  #sent: number;
  readonly #start: number;
  readonly #rest: MemoryQueue;
  readonly #sync: boolean;
  readonly #beat: NodeJS.Timeout;
  #syncing: Promise<void> | undefined;
  #nextSync: Promise<void> | undefined;
  #isReleased = false;

  private constructor(readonly header: Header, file: { path: string; fd: number; start: number; sent: number; end: number }, sync: boolean) {
    this.#path = file.path;
    this.#fd = file.fd;
    this.#start = file.start;
    this.#sent = file.sent;
    this.#end = file.end;
    this.#rest = new MemoryQueue(header);
    this.#sync = sync;
    this.#beat = setInterval(() => this.#touch(), BEAT).unref();
    open.add(this);
  }

  /** A new file in a folder. Throws if it cannot be written. */
  static begin(folder: string, header: Header, sync: boolean): FileQueue {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    const file = path.join(folder, nameOf(owner()));
    const fd = fs.openSync(file, "wx+", 0o600);
    const head = Buffer.from(`${"0".repeat(DIGITS)}\n${JSON.stringify({ ...header, host: os.hostname() })}\n`);
    fs.writeSync(fd, head);
    if (sync) syncFolder(folder);
    return new FileQueue(header, { path: file, fd, start: head.length, sent: head.length, end: head.length }, sync);
  }

  /** The queues in a folder whose writer has ended, of those that are `wanted`. Empty ones are removed. */
  static abandoned(folder: string, wanted: (header: Header) => boolean, sync: boolean): FileQueue[] {
    const names = list(folder).filter((name) => name.endsWith(SUFFIX)).sort();
    return names.flatMap((name) => FileQueue.#takenOver(path.join(folder, name), wanted, sync) ?? []);
  }

  static #takenOver(file: string, wanted: (header: Header) => boolean, sync: boolean): FileQueue | undefined {
    try {
      const found = readHead(file);
      if (found === undefined || !wanted(found.header) || isInUse(file, found.host)) return undefined;
      const mine = path.join(path.dirname(file), nameOf(owner(), path.basename(file)));
      fs.renameSync(file, mine);
      const fd = fs.openSync(mine, "r+");
      const queue = new FileQueue(found.header, { ...found, path: mine, fd, end: endOf(fd, found.start) }, sync);
      if (queue.hasWaiting) return queue;
      queue.release();
    } catch {
      // another process took it over
    }
    return undefined;
  }

  get place(): string {
    return this.#path;
  }

  get hasWaiting(): boolean {
    return this.#sent < this.#end || this.#rest.hasWaiting;
  }

  append(text: string): boolean {
    if (!this.#isReleased && this.#writeRest() && this.#write(text)) return true;
    return this.#rest.append(text);
  }

  async stored(): Promise<void> {
    if (!this.#sync || this.#isReleased) return;
    if (this.#syncing === undefined) return this.#startSync();
    this.#nextSync ??= this.#syncing.then(() => this.#startSync()); // that one may have begun before our line was written
    return this.#nextSync;
  }

  async next(mostLines: number, mostBytes: number): Promise<Line[]> {
    if (this.#sent >= this.#end) return this.#rest.next(mostLines, mostBytes);
    const from = this.#sent;
    let size = Math.min(this.#end - from, READ);
    for (;;) {
      const data = await read(this.#fd, from, size);
      const lines = linesIn(data, from);
      const isEnough = lines.length >= mostLines || size >= mostBytes || from + size >= this.#end;
      if (lines.length > 0 && isEnough) return firstOf(lines, mostLines, mostBytes);
      if (from + size >= this.#end) throw new Error(`${this.#path} has no complete line at ${from}`);
      size = Math.min(this.#end - from, size * 2);
    }
  }

  settle(line: Line): void {
    if (line.inMemory) return this.#rest.settle(line);
    this.#sent = Math.max(this.#sent, line.at);
    if (this.#isReleased) return;
    if (this.#sent >= this.#end && this.#end > LARGEST_DELIVERED) this.#empty();
    else attempt(() => fs.writeSync(this.#fd, digits(this.#sent), 0));
  }

  refuse(line: Line, why: string): boolean {
    const kept = { why, session: this.header.session.key, action: line.text };
    return attempt(() => fs.appendFileSync(`${this.#path}.refused`, `${JSON.stringify(kept)}\n`, { mode: 0o600 }));
  }

  release(): void {
    if (this.#isReleased) return;
    this.#writeRest();
    this.#isReleased = true;
    clearInterval(this.#beat);
    open.delete(this);
    attempt(() => {
      if (this.hasWaiting) fs.renameSync(this.#path, path.join(path.dirname(this.#path), nameOf(NOBODY, path.basename(this.#path))));
      else fs.unlinkSync(this.#path);
    });
    void (this.#nextSync ?? this.#syncing ?? Promise.resolve()).then(() => attempt(() => fs.closeSync(this.#fd)));
  }

  #write(text: string): boolean {
    const data = Buffer.from(`${text}\n`);
    return attempt(() => {
      if (fs.fstatSync(this.#fd).nlink === 0) this.#begin();
      for (let done = 0; done < data.length; ) done += fs.writeSync(this.#fd, data, done, data.length - done, this.#end + done);
      this.#end += data.length;
    });
  }

  /** Write what waits in memory. False if that is not possible. */
  #writeRest(): boolean {
    while (this.#rest.hasWaiting) {
      const [line] = this.#rest.firstLines(1);
      if (line === undefined || !this.#write(line.text)) return false;
      this.#rest.settle(line);
    }
    return true;
  }

  /** Write the file again under another name: someone removed it. What is undelivered stays readable through its descriptor. */
  #begin(): void {
    const file = path.join(path.dirname(this.#path), nameOf(owner(), path.basename(this.#path)));
    const whole = Buffer.alloc(this.#end);
    fs.readSync(this.#fd, whole, 0, this.#end, 0);
    fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    const fd = fs.openSync(file, "wx+", 0o600);
    fs.writeSync(fd, whole);
    fs.closeSync(this.#fd);
    this.#fd = fd;
    this.#path = file;
  }

  /** Shorten a file of which everything is delivered. A crash in between only sends its lines again. */
  #empty(): void {
    attempt(() => {
      fs.writeSync(this.#fd, digits(0), 0);
      fs.ftruncateSync(this.#fd, this.#start);
      this.#sent = this.#end = this.#start;
      fs.writeSync(this.#fd, digits(this.#sent), 0);
    });
  }

  #startSync(): Promise<void> {
    this.#nextSync = undefined;
    this.#syncing = new Promise<void>((resolve) => fs.fdatasync(this.#fd, () => resolve())).then(() => {
      this.#syncing = undefined;
    });
    return this.#syncing;
  }

  #touch(): void {
    const now = new Date();
    attempt(() => fs.futimesSync(this.#fd, now, now));
  }
}

/** Release all files of this thread; for the exit of the process. */
export function releaseAll(): void {
  for (const queue of [...open]) queue.release();
}

function owner(): string {
  return `${process.pid}.${threadId}`;
}

/** A name that begins like an earlier one, so that files keep their order. */
function nameOf(by: string, earlier?: string): string {
  const time = earlier?.split("-")[0] ?? Date.now().toString().padStart(14, "0");
  return `${time}-${by}-${crypto.randomUUID().slice(0, 8)}${SUFFIX}`;
}

function isInUse(file: string, host: unknown): boolean {
  const by = path.basename(file).split("-")[1] ?? NOBODY;
  if (by === NOBODY) return false;
  if (by === owner()) return [...open].some((queue) => queue.place === file);
  const [pid, thread] = by.split(".").map(Number);
  const silence = Date.now() - fs.statSync(file).mtimeMs;
  const isSilent = silence > SILENT;
  if (host !== os.hostname()) return !isSilent;
  if (silence > SILENT + os.uptime() * 1_000) return false; // this machine was restarted, and another process may have the id
  return isAlive(pid ?? 0) && !(isSilent && pid === process.pid && thread !== threadId);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (why) {
    return (why as NodeJS.ErrnoException).code === "EPERM";
  }
}

interface Head {
  header: Header;
  host: unknown;
  start: number;
  sent: number;
}

/** What the first two lines say; undefined if they are not complete. */
function readHead(file: string): Head | undefined {
  const fd = fs.openSync(file, "r");
  try {
    const data = Buffer.alloc(Math.min(fs.fstatSync(fd).size, READ));
    fs.readSync(fd, data, 0, data.length, 0);
    const end = data.indexOf("\n", DIGITS + 1);
    if (end === -1) return undefined;
    const { host, ...header } = JSON.parse(data.toString("utf8", DIGITS + 1, end));
    const start = end + 1;
    return { header, host, start, sent: Math.max(start, Number(data.toString("latin1", 0, DIGITS)) || 0) };
  } finally {
    fs.closeSync(fd);
  }
}

/** The end of the last complete line: a killed process may have left a part of one. */
function endOf(fd: number, start: number): number {
  let end = fs.fstatSync(fd).size;
  while (end > start) {
    const from = Math.max(start, end - READ);
    const data = Buffer.alloc(end - from);
    fs.readSync(fd, data, 0, data.length, from);
    const at = data.lastIndexOf("\n");
    if (at !== -1) return from + at + 1;
    end = from;
  }
  return start;
}

function linesIn(data: Buffer, from: number): Line[] {
  const found: Line[] = [];
  for (let at = 0, end = data.indexOf("\n"); end !== -1; at = end + 1, end = data.indexOf("\n", at)) {
    found.push({ text: data.toString("utf8", at, end), at: from + end + 1, inMemory: false });
  }
  return found;
}

function read(fd: number, from: number, size: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    fs.read(fd, Buffer.alloc(size), 0, size, from, (why, count, data) => (why ? reject(why) : resolve(data.subarray(0, count))));
  });
}

function list(folder: string): string[] {
  try {
    return fs.readdirSync(folder);
  } catch {
    return [];
  }
}

function digits(position: number): string {
  return String(position).padStart(DIGITS, "0");
}

/** Make the name of a new file survive the machine; some systems cannot. */
function syncFolder(folder: string): void {
  attempt(() => {
    const fd = fs.openSync(folder, "r");
    fs.fsyncSync(fd);
    fs.closeSync(fd);
  });
}

/** Whether something on the disk worked. */
function attempt(action: () => void): boolean {
  try {
    action();
    return true;
  } catch {
    return false;
  }
}
