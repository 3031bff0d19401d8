/** Wait, or stop waiting with the reason of the signal. `keepsAlive` says whether Node waits for it before it exits. */
export function pause(milliseconds: number, options: { signal?: AbortSignal | undefined; keepsAlive?: boolean } = {}): Promise<void> {
  const { signal, keepsAlive = true } = options;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    if (!keepsAlive) (timer as { unref?: () => void }).unref?.();
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/** A time up to a tenth longer, so that clients do not return together. */
export function jittered(milliseconds: number): number {
  return milliseconds * (1 + Math.random() / 10);
}
