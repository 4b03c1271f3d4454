import { withDeadline } from "../../outbound/deadline.ts"
import { fetchReadable } from "../../providers/responses/readable-body.ts"
import { readAtMost } from "../../support/bytes.ts"
import { logWarning } from "../../support/log.ts"
import { printableLine } from "../../support/text/printable.ts"
import { type CheckInput, type CheckResult, formats } from "./formats.ts"
import type { ContentCheck } from "./check.ts"

const MAX_SENT_BYTES = 4_000_000
const MAX_RESPONSE_BYTES = 8_000_000
const MAX_CATEGORIES = 20
const MAX_CATEGORY_LENGTH = 64

/** The result of a check; null if the check did not respond in time, or not in its format. */
export async function runCheck(check: ContentCheck, input: CheckInput): Promise<CheckResult | null> {
  const { format, name, timeout_ms: timeoutMs } = check
  const request = formats[format].body(input, check.parameters)
  if (!request) return { isFlagged: false, categories: [] }
  const body = JSON.stringify(request)
  const failed = (why: string) => {
    logWarning("content check failed", { requestId: input.requestId, check: name, why })
    return null
  }
  if (body.length > MAX_SENT_BYTES) return failed(`the texts have more than ${MAX_SENT_BYTES} characters`)
  const never = new AbortController().signal
  try {
    const timed = await withDeadline(timeoutMs, never, (signal) => post(check, body, signal))
    if (!("value" in timed)) return failed(`no response within ${timeoutMs} ms`)
    const result = formats[format].result(timed.value)
    const categories = result.categories.map((name) => printableLine(name).slice(0, MAX_CATEGORY_LENGTH))
    return { ...result, categories: [...new Set(categories)].sort().slice(0, MAX_CATEGORIES) }
  } catch (cause) {
    return failed(cause instanceof CheckFailure ? cause.message : "the response is not of its format")
  }
}

class CheckFailure extends Error {}

async function post({ url, headers }: ContentCheck, body: string, signal: AbortSignal): Promise<unknown> {
  const response = await fetchReadable(url, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body,
    redirect: "manual",
    signal,
  }).catch(() => {
    throw new CheckFailure("the connection failed")
  })
  if (!response.ok || !response.body) {
    await response.body?.cancel()
    throw new CheckFailure(`status ${response.status}`)
  }
  const bytes = await readAtMost(response.body, MAX_RESPONSE_BYTES)
  if (!bytes) throw new CheckFailure(`the response has more than ${MAX_RESPONSE_BYTES} bytes`)
  return JSON.parse(new TextDecoder().decode(bytes))
}
