import path from "node:path"
import { defineConfig } from "vitest/config"
import { depthFrom } from "../support/depth.ts"
import { useMemoryDisk } from "../support/memory-disk.ts"

const root = path.join(import.meta.dirname, "../..")
const { properties, timeoutMs } = depthFrom(process.env)

useMemoryDisk()

/** The gateway as it is deployed, in bare workerd: no proxy stands between a client and the runtime. */
export default defineConfig({
  root,
  test: {
    include: ["test/runtime/**/*.test.ts"],
    globalSetup: [path.join(root, "test/runtime/bundle.ts")],
    // One at a time: each file has a runtime of its own, and its patience is for that one alone.
    fileParallelism: false,
    // What the files import is loaded once.
    isolate: false,
    provide: { properties },
    setupFiles: [path.join(root, "test/support/properties.ts")],
    testTimeout: timeoutMs,
    hookTimeout: timeoutMs,
  },
})
