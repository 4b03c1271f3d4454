import path from "node:path"
import { defineConfig } from "vitest/config"
import { HANG_MS } from "../support/depth.ts"
import { useMemoryDisk } from "../support/memory-disk.ts"

const root = path.join(import.meta.dirname, "../..")

useMemoryDisk()

/** The console of `npm start` in Debian's Chromium. */
export default defineConfig({
  root,
  test: {
    include: ["test/console/*.test.ts"],
    globalSetup: [path.join(root, "test/acceptance/setup.ts")],
    // One browser at a time.
    fileParallelism: false,
    isolate: false,
    testTimeout: HANG_MS,
    hookTimeout: HANG_MS,
    // Not a claim about the console: a poll ends as soon as it passes.
    expect: { poll: { timeout: 60_000 } },
  },
})
