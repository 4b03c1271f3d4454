import type { Outcome } from "./apply.ts"
import type { Plan } from "./plan.ts"
import type { Change } from "./resource.ts"

const SIGNS = { create: "+", update: "~", remove: "-" } as const

export function describePlan({ changes, extra }: Plan): string {
  const blocks = changes.map(describeChange)
  const undeclared = extra.map((address) => `  ${address}`)
  const count = (action: Change["action"]) => changes.filter((change) => change.action === action).length
  const drifted = changes.filter(({ drift }) => drift).length
  const summary =
    changes.length === 0
      ? "No changes."
      : `${count("create")} to create, ${count("update")} to change, ${count("remove")} to remove.`
  return [
    ...blocks,
    ...(undeclared.length > 0 ? [`Not in the file, kept (--prune removes them):\n${undeclared.join("\n")}`] : []),
    summary + (drifted > 0 ? ` ${drifted} changed elsewhere since the last apply.` : ""),
  ].join("\n")
}

function describeChange({ action, address, fields, drift }: Change): string {
  const lines = fields.map(({ field, from, to }) =>
    action === "create" ? `    ${field}: ${toText(to)}` : `    ${field}: ${toText(from)} → ${toText(to)}`,
  )
  return [`${SIGNS[action]} ${address}${drift ? "  (drift: changed since the last apply)" : ""}`, ...lines].join("\n")
}

function toText(value: unknown): string {
  return JSON.stringify(value)
}

export function describeOutcome({ done, failed, pending }: Outcome): string {
  if (!failed) return done.length === 0 ? "" : `Applied ${done.length} ${done.length === 1 ? "change" : "changes"}.`
  const list = (changes: readonly Change[]) => changes.map(({ action, address }) => `  ${SIGNS[action]} ${address}`)
  return [
    `Failed: ${failed.change.address}: ${failed.message}`,
    ...(done.length > 0 ? ["Applied:", ...list(done)] : ["Nothing was applied."]),
    ...(pending.length > 0 ? ["Not applied:", ...list(pending)] : []),
    "Correct the cause and run apply again: it continues with the remaining changes.",
  ].join("\n")
}

export function toJson({ changes, extra }: Plan) {
  return {
    changes: changes.map(({ action, kind, address, fields, drift }) => ({ action, kind, address, fields, drift })),
    extra,
  }
}
