/** So long is no claim about the product, and no machine is so slow. */
const PATIENCE_MS = 30_000
const FIRST_PAUSE_MS = 1
const LONGEST_PAUSE_MS = 25

/** What the check returns once it no longer throws; its last words when patience ends. */
export async function eventually<T>(check: () => T | Promise<T>, patienceMs = PATIENCE_MS): Promise<T> {
  const deadline = Date.now() + patienceMs
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    try {
      return await check()
    } catch (failure) {
      if (Date.now() > deadline) throw failure
    }
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}
