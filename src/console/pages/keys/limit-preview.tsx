import { withParams } from "../../api/client.ts"
import { useGet } from "../../api/query.ts"
import type { ApiKey, CallPage } from "../../api/types.ts"
import { count, plural, usd } from "../../format/number.ts"
import { now } from "../../format/time.ts"
import { Status } from "../../ui/status.tsx"
import { callsRejectedBy, windowOf } from "./limit-effect.ts"
import { spentOf } from "./state.ts"

const MAX_CALLS = 200

type LimitInput = { limit: string; reset: string; byok: boolean }

/** Simulates an unsaved limit on the calls of its window. */
export function LimitPreview({ apiKey, input }: { apiKey: ApiKey; input: LimitInput }) {
  const limit = Number(input.limit)
  const isSame = input.limit === String(apiKey.limit ?? "") && input.reset === (apiKey.limit_reset ?? "")
  const isShown = input.limit !== "" && Number.isFinite(limit) && !isSame
  const window = windowOf(input.reset, now.value)
  const from = window && new Date(window.from).toISOString()
  const path = withParams("/calls", { key: apiKey.hash, from, status: "!refused", limit: MAX_CALLS })
  const calls = useGet<CallPage>(isShown ? path : null)
  if (!isShown || !calls.data) return null
  const { data, has_more: hasMore } = calls.data
  const reset = input.reset === "" ? null : input.reset
  const spent = spentOf({ ...apiKey, limit_reset: reset, include_byok_in_limit: input.byok })
  const rejected = callsRejectedBy(data, limit, { spent, byok: input.byok })
  const which = hasMore ? `newest ${count(MAX_CALLS)} calls` : plural(data.length, "call")
  const period = window?.name ?? "of this key"
  return (
    <p class="limit-preview" role="status">
      {data.length === 0 ? (
        <Status tone="off">No calls {period} to compare with</Status>
      ) : rejected > 0 ? (
        <Status tone="warn">
          {count(rejected)} of the {which} {period} would have been refused
        </Status>
      ) : (
        <Status tone="good">
          {hasMore ? `The ${which}` : `All ${which}`} {period} fit: {usd(spent)} of {usd(limit)} spent
        </Status>
      )}
    </p>
  )
}
