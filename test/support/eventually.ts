/** Not a requirement of the product, and longer than any machine takes. */
const TIMEOUT_MS = 60_000
const INITIAL_DELAY_MS = 1
const MAX_DELAY_MS = 100

/** The result of the check once it no longer throws; its last error after `timeoutMs`. */
export async function eventually<T>(check: () => T | Promise<T>, timeoutMs = TIMEOUT_MS): Promise<T> {
  const deadline = Date.now() + timeoutMs
  for (let pause = INITIAL_DELAY_MS; ; pause = Math.min(pause * 1.5, MAX_DELAY_MS)) {
    try {
      return await check()
    } catch (failure) {
      if (Date.now() > deadline) throw failure
    }
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}
