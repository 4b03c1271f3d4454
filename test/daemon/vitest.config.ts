import path from "node:path"
import { defineConfig } from "vitest/config"
import { depthFrom } from "../support/depth.ts"
import { useMemoryDisk } from "../support/memory-disk.ts"

const root = path.join(import.meta.dirname, "../..")
const { properties, timeoutMs } = depthFrom(process.env)

useMemoryDisk()

/** The daemon as a separate process, against a scripted gateway, with a scripted agent. */
export default defineConfig({
  root,
  test: {
    include: ["test/daemon/**/*.test.ts"],
    provide: { properties },
    setupFiles: [path.join(root, "test/support/properties.ts")],
    testTimeout: timeoutMs,
    hookTimeout: timeoutMs,
  },
})
