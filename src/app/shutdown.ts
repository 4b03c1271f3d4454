import { GatewayError } from "../errors/errors.ts"
import { toErrorResponse } from "../http/error-response.ts"
import { hasOpenCalls } from "../ledger/shared.ts"
import { newRequestId } from "../support/ids.ts"
import { wait } from "../support/time/time.ts"

/** Sent as the expression of a cron trigger by src/local/runtime.ts, before it ends the runtime. */
export const SHUTDOWN = "shutdown"
const STEP_MS = 50
/** A lease that was just returned is on its way to the ledger. */
const LAST_REPORT_MS = 200

let isEnding = false

/** Whether this isolate accepts no new work. */
export function isShuttingDown(): boolean {
  return isEnding
}

/** Accepts no new requests, and resolves when the running calls have ended, are charged, and all leases are returned. */
export async function shutDown(): Promise<void> {
  isEnding = true
  while (hasOpenCalls()) await wait(STEP_MS)
  await wait(LAST_REPORT_MS)
}

export function rejectDuringShutdown({ url }: Request): Response {
  const error = new GatewayError("unavailable", "The gateway is restarting. Retry in a few seconds.", {
    metadata: { retryable: true },
    headers: { "retry-after": "5" },
  })
  return toErrorResponse(error, { path: new URL(url).pathname, requestId: newRequestId() })
}
