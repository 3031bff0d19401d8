export interface Usage {
  input_tokens?: number | null;
  output_tokens?: number | null;
  total_tokens?: number | null;
  cached_tokens?: number | null;
  cache_write_tokens?: number | null;
  reasoning_tokens?: number | null;
}

type Given = Readonly<Record<string, unknown>>;

const OURS = ["input_tokens", "output_tokens", "total_tokens", "cached_tokens", "cache_write_tokens", "reasoning_tokens"] as const;

/** Token counts in our names, from those of OpenAI, Anthropic, Gemini and Ollama. Unknown ones are left out, not guessed. */
export function counts(given: unknown): Usage {
  if (given === null || typeof given !== "object") return {};
  const found = reader(given as Given)(given as Given);
  return Object.fromEntries(Object.entries(found).filter(([, each]) => each !== undefined));
}

function reader(given: Given): (given: Given) => Record<string, number | undefined> {
  const has = (...names: string[]): boolean => names.some((name) => name in given);
  if (has("prompt_tokens", "completion_tokens")) return chat;
  if (has("cache_read_input_tokens", "cache_creation_input_tokens")) return anthropic;
  if (has("promptTokenCount", "candidatesTokenCount")) return gemini;
  if (has("prompt_eval_count", "eval_count")) return ollama;
  return own;
}

/** Chat completions; where a server leaves reasoning out of the completion, the total says what was written. */
function chat(given: Given): Record<string, number | undefined> {
  const [read, written, total] = ["prompt_tokens", "completion_tokens", "total_tokens"].map((name) => count(given, name));
  const isKnown = read !== undefined && written !== undefined && total !== undefined;
  return {
    input_tokens: read,
    output_tokens: isKnown ? Math.max(written, total - read) : written,
    total_tokens: total,
    cached_tokens: count(part(given, "prompt_tokens_details"), "cached_tokens") ?? count(given, "cache_read_input_tokens"),
    cache_write_tokens: count(given, "cache_creation_input_tokens"),
    reasoning_tokens: count(part(given, "completion_tokens_details"), "reasoning_tokens"),
  };
}

/** Its input tokens leave out what was read from and written to the cache. */
function anthropic(given: Given): Record<string, number | undefined> {
  const fresh = count(given, "input_tokens");
  const cached = count(given, "cache_read_input_tokens");
  const stored = count(given, "cache_creation_input_tokens");
  const read = fresh === undefined ? undefined : fresh + (cached ?? 0) + (stored ?? 0);
  const written = count(given, "output_tokens");
  return {
    input_tokens: read,
    output_tokens: written,
    total_tokens: read === undefined || written === undefined ? undefined : read + written,
    cached_tokens: cached,
    cache_write_tokens: stored,
    reasoning_tokens: count(part(given, "output_tokens_details"), "thinking_tokens"),
  };
}

/** Reasoning tokens are separate from output tokens, and billed with them. */
function gemini(given: Given): Record<string, number | undefined> {
  const candidates = count(given, "candidatesTokenCount");
  const thought = count(given, "thoughtsTokenCount");
  const isUnknown = candidates === undefined && thought === undefined;
  return {
    input_tokens: count(given, "promptTokenCount"),
    output_tokens: isUnknown ? undefined : (candidates ?? 0) + (thought ?? 0),
    total_tokens: count(given, "totalTokenCount"),
    cached_tokens: count(given, "cachedContentTokenCount"),
    reasoning_tokens: thought,
  };
}

function ollama(given: Given): Record<string, number | undefined> {
  return { input_tokens: count(given, "prompt_eval_count"), output_tokens: count(given, "eval_count") };
}

/** Our own names, and the details of the Responses API. */
function own(given: Given): Record<string, number | undefined> {
  const details = {
    cached_tokens: count(part(given, "input_tokens_details"), "cached_tokens"),
    reasoning_tokens: count(part(given, "output_tokens_details"), "reasoning_tokens"),
  };
  const named = OURS.filter((name) => name in given).map((name) => [name, count(given, name)]);
  return { ...details, ...Object.fromEntries(named) };
}

function count(given: Given, name: string): number | undefined {
  const value = given[name];
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && value <= 1e12 ? value : undefined;
}

function part(given: Given, name: string): Given {
  const value = given[name];
  return value !== null && typeof value === "object" ? (value as Given) : {};
}
