const PATIENCE_MS = 15_000
const STEP_MS = 20

/** What the check returns once it no longer throws; its last words when patience ends. */
export async function eventually<T>(check: () => T | Promise<T>, patienceMs = PATIENCE_MS): Promise<T> {
  const deadline = Date.now() + patienceMs
  for (;;) {
    try {
      return await check()
    } catch (failure) {
      if (Date.now() > deadline) throw failure
    }
    await new Promise((resolve) => setTimeout(resolve, STEP_MS))
  }
}
