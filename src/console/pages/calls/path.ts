import type { CallStory } from "../../api/types.ts"

type Attempt = CallStory["trail"][number]

/** A part of a bar: work of the gateway or the model, or waiting for a provider. */
export type Part = { kind: "work" | "wait"; from: number; to: number; label: string }

export type Stage =
  | { kind: "step"; label: string; parts: Part[] }
  | { kind: "finding"; finding: CallStory["guardrails"][number] }
  | { kind: "attempt"; attempt: Attempt; parts: Part[]; duration: number }

const at = (text: string | null) => (text === null ? null : Date.parse(text))

/**
 * The path of a call in order, on one scale of time. The record has the duration of each attempt and when the last one
 * was sent: the attempts before it end there, one after the other.
 */
export function pathOf({ times, trail, guardrails }: Pick<CallStory, "times" | "trail" | "guardrails">): {
  stages: Stage[]
  from: number
  /** End of the response. */
  to: number
  /** Milliseconds from there until the call was charged, which no client waits for. */
  settlementMs: number
} {
  const received = Date.parse(times.received)
  const settled = Math.max(received, Date.parse(times.settled))
  const [sent, first, last] = [at(times.sent), at(times.first_token), at(times.last_token)]
  const end = Math.min(settled, last ?? settled)
  const hasResponse = sent !== null && trail.length > 0
  const earlier = hasResponse ? trail.slice(0, -1) : trail
  let begin = hasResponse ? sent : end
  const tried: Stage[] = []
  for (const attempt of earlier.toReversed()) {
    const to = begin
    begin = Math.max(received, to - attempt.duration_ms)
    const parts: Part[] = [{ kind: "wait", from: begin, to, label: "failed" }]
    tried.unshift({ kind: "attempt", attempt, parts, duration: attempt.duration_ms })
  }
  const stages: Stage[] = [
    { kind: "step", label: "check, plan, hold", parts: [{ kind: "work", from: received, to: begin, label: "" }] },
    ...guardrails.map((finding): Stage => ({ kind: "finding", finding })),
    ...tried,
  ]
  const lastAttempt = hasResponse ? trail.at(-1) : undefined
  if (lastAttempt && sent !== null) {
    const parts: Part[] = [{ kind: "wait", from: sent, to: first ?? end, label: "wait for the first token" }]
    if (first !== null && last !== null) parts.push({ kind: "work", from: first, to: last, label: "stream" })
    stages.push({ kind: "attempt", attempt: lastAttempt, parts, duration: end - sent })
  }
  return { stages, from: received, to: end, settlementMs: settled - end }
}
