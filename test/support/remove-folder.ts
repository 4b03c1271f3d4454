import { rmSync } from "node:fs"

/**
 * Removes a folder of a test with everything in it. Processes that the test ended can still write while they exit: a
 * runtime its databases, an agent its session. The removal is repeated for up to 50 seconds while they do.
 */
export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 100, retryDelay: 10 })
}
