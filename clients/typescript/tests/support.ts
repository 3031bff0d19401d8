import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, readdirSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { TimeMachine, type NodeOptions } from "timemachine-client";

const url = process.env["TIMEMACHINE_URL"];
if (url === undefined) throw new Error("Set TIMEMACHINE_URL and TIMEMACHINE_API_KEY to a server for tests.");
const target = new URL(url);

/** A client with a spool of its own. */
export function machine(options: NodeOptions = {}): TimeMachine {
  return new TimeMachine({ spool: folder(), warn: () => {}, ...options });
}

export function folder(): string {
  return mkdtempSync(path.join(tmpdir(), "timemachine-client-"));
}

export function queuesIn(spool: string): string[] {
  return readdirSync(spool).filter((name) => name.endsWith(".queue.jsonl"));
}

/** A program in another process, which imports the client as an application does. */
export function program(source: string, environment: Record<string, string>): ChildProcess {
  const environ = { ...process.env, ...environment };
  return spawn(process.execPath, ["--input-type=module", "-e", source], { env: environ, stdio: ["ignore", "pipe", "inherit"] });
}

/** Resolves with what the program prints up to a word, or at its end. */
export function printed(child: ChildProcess, word: string): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    child.stdout?.on("data", (data) => {
      text += String(data);
      if (text.includes(word)) resolve(text);
    });
    child.on("exit", () => resolve(text));
  });
}

export function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.on("exit", resolve));
}

/** The outputs of a session's steps on the server, in order. */
export async function outputs(tm: TimeMachine, session: string): Promise<unknown[]> {
  const { turns } = await tm.replayFull(session);
  return turns.map((turn) => turn.output);
}

type Fate = "passes" | "no request" | "no answer";

/** An address in front of the server. Shut, the server is unreachable; a fate breaks off the next request or its answer. */
export class Gate {
  #open = true;
  #sockets = new Set<net.Socket>();
  #server = net.createServer((client) => this.#serve(client));
  fates: Fate[] = [];

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as net.AddressInfo).port}`;
  }

  shut(): void {
    this.#open = false;
    for (const each of this.#sockets) each.destroy();
  }

  open(): void {
    this.#open = true;
  }

  close(): void {
    this.shut();
    this.#server.close();
  }

  #serve(client: net.Socket): void {
    if (!this.#open) return void client.destroy();
    const server = net.connect(Number(target.port), target.hostname);
    let isDeaf = false;
    for (const each of [client, server]) {
      this.#sockets.add(each);
      each.on("error", () => {}).on("close", () => (client.destroy(), server.destroy()));
    }
    client.on("data", (data) => {
      const fate = /^(POST|GET) /.test(data.toString("latin1", 0, 5)) ? (this.fates.shift() ?? "passes") : "passes";
      if (fate === "no request") return void client.destroy();
      isDeaf = fate === "no answer";
      server.write(data);
    });
    server.on("data", (data) => void (isDeaf ? client.destroy() : client.write(data)));
  }
}
