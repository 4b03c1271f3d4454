import type { ScreeningContext } from "../../src/guardrails/create-screening.ts"

/** Of a call without external checks, whose client did not request the findings. */
export const PLAIN_CALL: ScreeningContext = { wantsMetadata: false, requestId: "req-1", contentChecks: new Map() }
