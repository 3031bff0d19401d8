import { NoServer } from "./errors.js";
import { BaseTimeMachine, type Options } from "./machine.js";
import { inMemory } from "./platform.js";
import { serverOf } from "./server.js";

export * from "./index.js";

/** Record, read and replay sessions. `url` defaults to the origin of the page. What is recorded waits in memory until it is delivered. */
export class TimeMachine extends BaseTimeMachine {
  constructor(options: Options) {
    super({ ...inMemory, server }, options);
  }
}

function server(url: string | undefined, apiKey: string | undefined) {
  const here = url ?? globalThis.location?.origin;
  if (here === undefined) throw new NoServer("Name the server: new TimeMachine({ url, apiKey }).", "no_server");
  return serverOf(here, apiKey);
}
