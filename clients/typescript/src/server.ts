import { NoServer } from "./errors.js";

/** The URL of a server, without a slash at the end, and the API key, if known. */
export interface Server {
  readonly url: string;
  readonly key: string | undefined;
}

/** A server of a checked URL and key. Throws `NoServer`. */
export function serverOf(url: string, key: string | undefined): Server {
  const trimmed = key?.trim() || undefined;
  if (trimmed !== undefined && !/^[\x21-\x7e]+$/.test(trimmed)) {
    throw new NoServer("The API key contains invalid characters. Copy it again.", "not_a_key");
  }
  return { url: checkedUrl(url), key: trimmed };
}

function checkedUrl(text: string): string {
  const parts = URL.canParse(text) ? new URL(text) : undefined;
  const usable = parts && ["http:", "https:"].includes(parts.protocol) && !parts.search && !parts.hash;
  if (!usable) {
    const shown = JSON.stringify(text.slice(0, 200));
    throw new NoServer(`${shown} is not the URL of a server. Use one like http://127.0.0.1:8000.`, "not_an_address");
  }
  return text.trim().replace(/\/+$/, "");
}

/** The public part of an API key, which tells keys apart without giving them away. */
export function keyId(server: Server | undefined): string | undefined {
  return server?.key === undefined ? undefined : (/^tmk_([a-z0-9]{12})_/.exec(server.key)?.[1] ?? "other");
}
