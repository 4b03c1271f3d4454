import path from "node:path"
import { defineConfig } from "vitest/config"

const root = path.join(import.meta.dirname, "../..")

/** `npm start` as a user has it, asked by the clients that users have. */
export default defineConfig({
  root,
  test: {
    include: ["test/acceptance/**/*.test.ts"],
    globalSetup: [path.join(root, "test/acceptance/setup.ts")],
    // A start is several processes: one at a time.
    fileParallelism: false,
    testTimeout: 90_000,
    hookTimeout: 90_000,
  },
})
