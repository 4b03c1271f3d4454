import type { Mutant } from "./mutant.ts"

const STORED = "src/files/stored-file.ts"
const TEST = "test/files/in-requests.worker.test.ts"

/** Faults with which a request would read files that its key may not see. */
export const fileMutants: readonly Mutant[] = [
  {
    name: "an intern's key reads all files of its workspace",
    file: STORED,
    from: `internId, mayExport: false`,
    to: `internId: null, mayExport: false`,
    test: TEST,
  },
  {
    name: "requests read exports",
    file: STORED,
    from: `internId, mayExport: false`,
    to: `internId, mayExport: true`,
    test: TEST,
  },
  {
    name: "files are read after the guardrails",
    file: "src/inference/pipeline.ts",
    from: `  const withDefaults = await applyPreset(withFiles, deps) // 1. preset and workspace defaults
  const screened = await screenInput(withDefaults) //       2. input guardrails: block or redact`,
    to: `  const withDefaults = await applyPreset(call, deps)
  const screened = await inlineStoredFiles(await screenInput(withDefaults), deps)`,
    test: TEST,
  },
]
