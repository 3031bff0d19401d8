import { MemoryQueue, type Header, type Queue } from "./queue.js";
import type { Server } from "./server.js";

/** What the recorder needs from where it runs. */
export interface Platform {
  /** The server of these options, else of the environment. Throws `NoServer`. */
  server(url: string | undefined, apiKey: string | undefined): Server;
  /** A queue for a new session. */
  queue(header: Header): Queue;
  /** Queues of ended processes that are for this server and key. */
  abandoned(wanted: (header: Header) => boolean): Queue[];
  /** Run a function; during it, also in what it awaits, `around` is this id. */
  within<T>(id: string, run: () => T): T;
  /** The id of the call around the code that runs now. */
  around(): string | undefined;
}

/** Queues in memory, and no parents that are known without being named. */
export const inMemory: Omit<Platform, "server"> = {
  queue: (header) => new MemoryQueue(header),
  abandoned: () => [],
  within: (_id, run) => run(),
  around: () => undefined,
};
