import path from "node:path"
import { defineConfig } from "vitest/config"

const root = path.join(import.meta.dirname, "../..")

/** The gateway as it is deployed, in bare workerd: no proxy stands between a client and the runtime. */
export default defineConfig({
  root,
  test: {
    include: ["test/runtime/**/*.test.ts"],
    globalSetup: [path.join(root, "test/runtime/bundle.ts")],
    // One at a time: each file has a runtime of its own, and its patience is for that one alone.
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
