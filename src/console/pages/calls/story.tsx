import type { CallStory } from "../../api/types.ts"
import { count, exactUsd } from "../../format/number.ts"
import { absolute, clock, duration } from "../../format/time.ts"
import { Status } from "../../ui/status.tsx"
import { Money } from "../../ui/values.tsx"

type Phase = { name: string; from: number; to: number; tone: "wait" | "work" }

/** Timing of a call, one line per phase, on one scale. */
export function Waterfall({ story }: { story: CallStory }) {
  const parseTime = (text: string | null) => (text === null ? null : Date.parse(text))
  const received = Date.parse(story.times.received)
  const settled = Date.parse(story.times.settled)
  const sent = parseTime(story.times.sent)
  const first = parseTime(story.times.first_token)
  const last = parseTime(story.times.last_token)
  const end = last ?? settled
  const phases: Phase[] = [
    { name: "check, plan, hold", from: received, to: sent ?? end, tone: "work" },
    ...(sent === null
      ? []
      : [
          {
            name: first === null ? "provider" : "wait for the first token",
            from: sent,
            to: first ?? end,
            tone: "wait" as const,
          },
        ]),
    ...(first === null || last === null ? [] : [{ name: "stream", from: first, to: last, tone: "work" as const }]),
    { name: "settle", from: end, to: settled, tone: "wait" },
  ]
  const span = Math.max(1, settled - received)
  return (
    <ol class="waterfall" aria-label="Times">
      {phases.map(({ name, from, to, tone }) => (
        <li key={name} title={`${clock(from)} to ${clock(to)}`}>
          <span class="truncate">{name}</span>
          <span class="track">
            <i
              class={tone}
              style={{
                left: `${((from - received) / span) * 100}%`,
                width: `max(2px, ${((to - from) / span) * 100}%)`,
              }}
            />
          </span>
          <span class="num right">{duration(to - from)}</span>
        </li>
      ))}
    </ol>
  )
}

/** Attempts at providers, in order. */
export function Trail({ story }: { story: CallStory }) {
  if (story.trail.length === 0) return <p class="quiet">No provider was tried.</p>
  return (
    <ol class="trail" aria-label="Attempts">
      {story.trail.map((attempt, index) => (
        <li key={index}>
          <Status tone={attempt.error === null && attempt.status === 200 ? "good" : "bad"}>
            {attempt.provider} {attempt.status ?? "no response"}
          </Status>
          <span class="quiet truncate" dir="auto">
            {attempt.model}
          </span>
          {attempt.is_byok && <span class="tag">own key</span>}
          {attempt.key_number !== null && <span class="tag">key {attempt.key_number}</span>}
          {attempt.cache === "hit" && <span class="tag">from the cache</span>}
          <span class="num end">{duration(attempt.duration_ms)}</span>
          {attempt.error && <p class="attempt-error">{attempt.error.message}</p>}
        </li>
      ))}
    </ol>
  )
}

const KIND_NAMES: Record<string, string> = {
  rounding: "rounding to a nano-dollar",
  above_hold: "above the hold, not charged",
  unitemized: "prices of the time are not known",
}

/** Cost calculation: units × price for each kind, to the last digit. */
export function Arithmetic({ story }: { story: CallStory }) {
  const { lines, total, paid_by: paidBy } = story.arithmetic
  return (
    <table class="arithmetic">
      <caption class="visually-hidden">Cost</caption>
      <tbody>
        {lines.map(({ kind, units, price, amount }) => (
          <tr key={kind}>
            <th scope="row">{KIND_NAMES[kind] ?? kind.replaceAll("_", " ")}</th>
            <td>{units === null ? "" : count(units)}</td>
            <td class="faint">{price === null ? "" : `× $${price}`}</td>
            <td>${amount}</td>
          </tr>
        ))}
        <tr class="total">
          <th scope="row">
            {paidBy === "byok" ? "at your provider account" : paidBy === "nobody" ? "nothing charged" : "charged"}
          </th>
          <td />
          <td />
          <td>${total}</td>
        </tr>
      </tbody>
    </table>
  )
}

export function Held({ story }: { story: CallStory }) {
  if (!story.held) return null
  const { amount, limits } = story.held
  return (
    <div class="stack tight">
      <p>
        <span title={exactUsd(Number(amount))}>
          <Money value={Number(amount)} />
        </span>{" "}
        was held before the call was sent, against the balance
        {limits.length === 0 ? "." : ` and ${limits.length} ${limits.length === 1 ? "limit" : "limits"}:`}
      </p>
      {limits.length > 0 && (
        <ul class="stack tight">
          {limits.map(({ kind, id, name, limit, interval }) => (
            <li key={`${kind} ${id} ${interval}`} class="row between">
              <span>
                {kind} {name ?? id.slice(0, 12)}
              </span>
              <span class="num">
                <Money value={limit} /> {interval ?? "total"}
              </span>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

export function timeLine(story: CallStory): string {
  return absolute(Date.parse(story.created_at))
}
