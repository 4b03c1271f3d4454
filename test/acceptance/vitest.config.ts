import path from "node:path"
import { defineConfig } from "vitest/config"
import { HANG_MS } from "../support/depth.ts"
import { useMemoryDisk } from "../support/memory-disk.ts"

const root = path.join(import.meta.dirname, "../..")

useMemoryDisk()

/** `npm start` as a user runs it, called by published clients. */
export default defineConfig({
  root,
  test: {
    include: ["test/acceptance/**/*.test.ts"],
    globalSetup: [path.join(root, "test/acceptance/setup.ts")],
    setupFiles: [path.join(root, "test/acceptance/contract.ts")],
    // A start is several processes: one at a time.
    fileParallelism: false,
    // The client libraries are large: they are loaded once, not by every file.
    isolate: false,
    testTimeout: HANG_MS,
    hookTimeout: HANG_MS,
  },
})
