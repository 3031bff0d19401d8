import { AsyncLocalStorage } from "node:async_hooks";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { NoServer } from "../errors.js";
import type { Platform } from "../platform.js";
import { MemoryQueue } from "../queue.js";
import { serverOf, type Server } from "../server.js";
import { FileQueue, releaseAll } from "./file_queue.js";

const around = new AsyncLocalStorage<string>();

/** Node: queues in files, and the server that runs on this machine unless another one is named. */
export function nodePlatform(options: { spool?: string | undefined; fsync?: boolean | undefined }): Platform {
  const folder = spoolFolder(options.spool);
  const sync = options.fsync ?? true;
  process.removeListener("exit", releaseAll).on("exit", releaseAll);
  return {
    server: findServer,
    queue: (header) => {
      try {
        return FileQueue.begin(folder, header, sync);
      } catch (why) {
        console.warn(`timemachine: Cannot write to ${folder} (${(why as Error).message}). Recordings wait in memory.`);
        return new MemoryQueue(header);
      }
    },
    abandoned: (wanted) => FileQueue.abandoned(folder, wanted, sync),
    within: (id, run) => around.run(id, run),
    around: () => around.getStore(),
  };
}

function findServer(url: string | undefined, apiKey: string | undefined): Server {
  const here = runningHere();
  const chosen = url ?? variable("TIMEMACHINE_URL") ?? here?.url;
  if (chosen === undefined) {
    throw new NoServer(
      `No server is running on this machine with its data in ${home()}. Start one, or set TIMEMACHINE_URL and TIMEMACHINE_API_KEY for another one.`,
      "no_server",
    );
  }
  const found = serverOf(chosen, apiKey ?? variable("TIMEMACHINE_API_KEY"));
  return found.key === undefined && found.url === here?.url ? serverOf(found.url, here.key) : found;
}

/** The server that runs on this machine, with this machine's key, which is sent to no other. */
function runningHere(): { url: string; key: string } | undefined {
  try {
    const { url } = JSON.parse(fs.readFileSync(path.join(home(), "server.json"), "utf8"));
    return { url: String(url).replace(/\/+$/, ""), key: fs.readFileSync(path.join(home(), "local-key"), "utf8").trim() };
  } catch {
    return undefined;
  }
}

function home(): string {
  const data = variable("XDG_DATA_HOME") ?? path.join(os.homedir(), ".local", "share");
  return variable("TIMEMACHINE_HOME") ?? path.join(data, "timemachine");
}

function spoolFolder(chosen: string | undefined): string {
  const state = variable("XDG_STATE_HOME") ?? path.join(os.homedir(), ".local", "state");
  return path.resolve(chosen ?? variable("TIMEMACHINE_SPOOL") ?? path.join(state, "timemachine", "spool"));
}

function variable(name: string): string | undefined {
  return process.env[name]?.trim() || undefined;
}
