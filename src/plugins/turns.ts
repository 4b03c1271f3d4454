import type { Json } from "../support/text/json.ts"
/** Messages that are kept or removed together: an assistant's calls with their results, or a single message. */
export type Unit = { members: number[]; isKept: boolean }

/** A conversation as units, in order. A unit is kept if any of its messages is a system message or in the last turn. */
export function toUnits(messages: readonly Json[]): Unit[] {
  const lastTurn = messages.findLastIndex(({ role }) => role === "user")
  const units: Unit[] = []
  /**
   * Ids are unique within a response of the model, not within a conversation: a result belongs to the latest call with
   * its id.
   */
  const callUnits = new Map<string, Unit>()
  for (const [index, message] of messages.entries()) {
    const isKept = isInstruction(message) || (lastTurn !== -1 && index >= lastTurn)
    const callUnit = message["role"] === "tool" ? callUnits.get(String(message["tool_call_id"])) : undefined
    if (callUnit) {
      callUnit.members.push(index)
      callUnit.isKept ||= isKept
      continue
    }
    const unit = { members: [index], isKept }
    units.push(unit)
    for (const id of callIdsOf(message)) callUnits.set(id, unit)
  }
  return units
}

function isInstruction({ role }: Json): boolean {
  return role === "system" || role === "developer"
}

function callIdsOf({ tool_calls: calls }: Json): string[] {
  if (!Array.isArray(calls)) return []
  return calls.map((call: { id?: unknown } | null) => String(call?.id))
}
