import path from "node:path"
import { defineConfig } from "vitest/config"
import { depthFrom } from "./support/depth.ts"
import { markdownAsText } from "./support/markdown.ts"
import { workerProject } from "./worker-project.ts"

const root = path.join(import.meta.dirname, "..")

const { properties, timeoutMs } = depthFrom(process.env)

const common = {
  root,
  provide: { properties },
  setupFiles: [path.join(root, "test/support/properties.ts")],
  isolate: false,
  // More than cores: tests of faults and timers wait more than they compute.
  maxWorkers: 3,
  testTimeout: timeoutMs,
  hookTimeout: timeoutMs,
}

/** The suffix of a test file decides: `*.worker.test.ts` needs the runtime of Workers, every other one runs in Node. */
export default defineConfig(async () => ({
  root,
  logLevel: "error" as const,
  test: {
    projects: [
      {
        root,
        plugins: [markdownAsText()],
        test: {
          ...common,
          name: "unit",
          pool: "threads" as const,
          include: ["test/**/*.test.ts"],
          exclude: ["**/*.worker.test.ts", "test/{acceptance,runtime,bench,daemon,dev}/**", "test/console/*.test.ts"],
        },
      },
      await workerProject(common),
    ],
  },
}))
