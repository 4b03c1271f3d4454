import type { LimitAlert } from "../ledger/reporting/alerts.ts"
import { parseScope } from "../ledger/scopes.ts"
import { formatUsd, nanoToUsd } from "../money/money.ts"
import { toTimestamp } from "../support/time/time.ts"
import type { Alert } from "./alert.ts"

const SUBJECTS = {
  balance: "The balance",
  key: "Key",
  budget: "Workspace",
  guardrail: "Guardrail",
  provider: "Provider",
  schedule: "Schedule",
} as const
const LIMIT_NAMES = {
  balance: "what the last credit left",
  key: "limit",
  budget: "budget",
  guardrail: "limit",
  provider: "budget",
  schedule: "limit",
} as const

/** Kinds of limits whose names are unique only within a workspace. */
const OF_A_WORKSPACE: ReadonlySet<string> = new Set(["key", "guardrail", "schedule"])

type Names = {
  /** Name of the key, workspace, guardrail or provider; null if it was deleted, and for the balance and schedules. */
  name: string | null
  /** Name of the call's workspace; null if it was deleted. */
  workspace: string | null
}

export function toLimitAlert(alert: LimitAlert, { name, workspace }: Names): Alert {
  const { scope, interval, threshold, limitNano, spentNano, neededNano, windowStart } = alert
  const { kind, id } = parseScope(scope)
  const owner = workspace !== null && OF_A_WORKSPACE.has(kind) ? ` of workspace "${workspace}"` : ""
  const subject = kind === "balance" ? SUBJECTS.balance : `${SUBJECTS[kind]} "${name ?? id.slice(0, 12)}"${owner}`
  const limit = `${interval === null ? "" : `${interval} `}${LIMIT_NAMES[kind]}`
  const amounts = `${formatUsd(spentNano)} of ${formatUsd(limitNano)} USD`
  // Holds of running requests are not spent: without them, the sentence would contradict itself.
  const holds = spentNano + (neededNano ?? 0) <= limitNano ? "; running requests hold the rest" : ""
  const message =
    threshold === null
      ? `${subject} rejected a call: it needed at least ${formatUsd(neededNano ?? 0)} USD, and ${amounts} of its ${limit} are spent${holds}.`
      : `${subject} reached ${threshold} % of its ${limit}: ${amounts} are spent.`
  return {
    id: alert.id,
    organizationId: alert.organizationId,
    workspaceId: kind === "balance" || kind === "provider" ? null : alert.workspaceId,
    kind: threshold === null ? "limit_refused" : "limit_threshold",
    message: kind === "balance" ? message.replace("of its what", "of what") : message,
    data: {
      scope: kind,
      id: kind === "balance" ? null : id,
      name,
      interval,
      window_start: interval === null ? null : toTimestamp(windowStart),
      limit_usd: nanoToUsd(limitNano),
      spent_usd: nanoToUsd(spentNano),
      ...(threshold === null ? { needed_usd: nanoToUsd(neededNano ?? 0) } : { threshold }),
    },
    createdAt: alert.at,
  }
}
