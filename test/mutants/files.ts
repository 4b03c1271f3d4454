import type { Mutant } from "./mutant.ts"

const STORED = "src/files/stored-file.ts"
const TEST = "test/files/in-requests.worker.test.ts"

/** Faults with which a request would read files that its key may not see. */
export const fileMutants: readonly Mutant[] = [
  {
    name: "an intern's key reads all files of its workspace",
    file: STORED,
    from: `...resourceScopeOf(principal), mayExport: false`,
    to: `...resourceScopeOf(principal), internId: null, mayExport: false`,
    test: TEST,
  },
  {
    name: "requests read exports",
    file: STORED,
    from: `...resourceScopeOf(principal), mayExport: false`,
    to: `...resourceScopeOf(principal), mayExport: true`,
    test: TEST,
  },
  {
    name: "files are read after the guardrails",
    file: "src/inference/pipeline.ts",
    from: `  const resolved = await resolveOnce(call, withFiles, deps) // 1. aliases, preset and workspace defaults
  const screened = await screenInput(resolved) //           2. input guardrails: block or redact`,
    to: `  const resolved = await resolveOnce(call, call, deps)
  const screened = await inlineStoredFiles(await screenInput(resolved), deps)`,
    test: TEST,
  },
]
