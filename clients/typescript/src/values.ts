const DEEPEST = 56;

/** A copy of a value in types of JSON. What JSON does not have becomes text, bytes become `{"base64": …}`. */
export function plain(value: unknown, depth = 0, around: readonly object[] = []): unknown {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (typeof value !== "object") return value === undefined ? undefined : String(value);
  if (depth > DEEPEST) return String(value);
  if (around.includes(value)) return "[circular]";
  const inner = [...around, value];
  const copied = (each: unknown): unknown => plain(each, depth + 1, inner);
  if (value instanceof Error) return { type: value.name, message: value.message };
  if (value instanceof Uint8Array) return { base64: base64(value) };
  if (value instanceof Map) return object([...value].map(([name, each]) => [String(name), copied(each)]));
  if (value instanceof Set) return [...value].map((each) => copied(each) ?? null);
  if (Array.isArray(value)) return value.map((each) => copied(each) ?? null);
  const own = (value as { toJSON?: unknown }).toJSON;
  if (typeof own === "function") return copied(own.call(value));
  return object(Object.entries(value).map(([name, each]) => [name, copied(each)]));
}

function object(entries: [string, unknown][]): Record<string, unknown> {
  return Object.fromEntries(entries.filter(([, each]) => each !== undefined));
}

function base64(bytes: Uint8Array): string {
  let text = "";
  for (const each of bytes) text += String.fromCharCode(each);
  return btoa(text);
}
