import path from "node:path"
import { defineConfig } from "vitest/config"

/** The daemon as a process of its own, against a scripted gateway, with a scripted agent. */
export default defineConfig({
  root: path.join(import.meta.dirname, "../.."),
  test: {
    include: ["test/daemon/**/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
