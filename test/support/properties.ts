import { configureGlobal } from "fast-check"
import { inject } from "vitest"
import { runs } from "./runs.ts"

configureGlobal({ numRuns: runs(1), seed: inject("properties").seed })
