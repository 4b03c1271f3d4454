import path from "node:path"
import { defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"
import { chosenMutant } from "./mutants/chosen.ts"
import { depthFrom } from "./support/depth.ts"
import { markdownAsText } from "./support/markdown.ts"
import { wasmAsModule } from "./support/wasm.ts"
import { workerProject } from "./worker-project.ts"

const root = path.join(import.meta.dirname, "..")

const { properties, timeoutMs } = depthFrom(process.env)

/** `--project unit` alone: unit tests compute, so that more workers than cores would only load modules more often. */
const isUnitOnly = process.argv.some(
  (one, at) => one === "--project=unit" || (process.argv[at - 1] === "--project" && one === "unit"),
)

const common = {
  root,
  provide: { properties },
  isolate: false,
  // More than cores: tests of faults and timers wait more than they compute.
  maxWorkers: isUnitOnly ? 2 : 5,
  testTimeout: timeoutMs,
  hookTimeout: timeoutMs,
}

/**
 * Long tests, which mostly wait, start first and run in parallel with the unit tests, which compute. Without durations of
 * an earlier run, the worker tests would otherwise end with a long one.
 */
class LongTestsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification) => {
      if (LONGEST_TESTS.test(moduleId)) return 0
      if (project.name === "unit") return 1
      return LONG_TESTS.test(moduleId) ? 2 : 3
    }
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b))
  }
}

const LONGEST_TESTS =
  /\/(?:(?:faults\/faults|ledger\/ledger-model)\.worker|guardrails\/(?:injections|patterns)|interns\/python)\.test\.ts$/
const LONG_TESTS =
  /\/(?:interns\/(?:usage|idle|crowd|model|site|runs|sessions|embedded|clone|editors)|scim\/(?:scale|pull|conformance-writes)|inference\/(?:matrix|differential|relay)|batches\/provider|observability\/delivery|vault\/canaries|secrets\/rotation|sessions\/sessions|contract\/programme|mcp\/money)\.worker\.test\.ts$/

/** The suffix of a test file decides: `*.worker.test.ts` needs the Workers runtime, every other one runs in Node. */
export default defineConfig(async () => ({
  root,
  logLevel: "error" as const,
  test: {
    sequence: { sequencer: LongTestsFirst },
    projects: [
      {
        root,
        plugins: [...chosenMutant(), markdownAsText(), wasmAsModule("node")],
        test: {
          ...common,
          name: "unit",
          // The cache does not know which mutant was loaded.
          fsModuleCache: !process.env["MUTANT"],
          setupFiles: [path.join(root, "test/support/properties.ts")],
          pool: "threads" as const,
          include: ["test/**/*.test.ts"],
          exclude: ["**/*.worker.test.ts", "test/{acceptance,runtime,bench,daemon,dev}/**", "test/console/*.test.ts"],
        },
      },
      await workerProject(common),
    ],
  },
}))
