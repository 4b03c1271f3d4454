import path from "node:path"
import { defineConfig } from "vitest/config"
import { depthFrom } from "../support/depth.ts"
import { useMemoryDisk } from "../support/memory-disk.ts"

const root = path.join(import.meta.dirname, "../..")
const { properties, timeoutMs } = depthFrom(process.env)

useMemoryDisk()
// Miniflare copies its configuration for each additional certificate: a second a start for the bundle of a system.
delete process.env["NODE_EXTRA_CA_CERTS"]

/** The deployed gateway in workerd, without a proxy between client and runtime. */
export default defineConfig({
  root,
  test: {
    include: ["test/runtime/**/*.test.ts"],
    globalSetup: [path.join(root, "test/runtime/bundle.ts")],
    // One at a time: each file has its own runtime, and its timeouts assume it runs alone.
    fileParallelism: false,
    // Imports of the files are loaded once.
    isolate: false,
    provide: { properties },
    setupFiles: [path.join(root, "test/support/properties.ts")],
    testTimeout: timeoutMs,
    hookTimeout: timeoutMs,
  },
})
