import type { CallStory } from "../../api/types.ts"
import { count, exactUsd } from "../../format/number.ts"
import { absolute } from "../../format/time.ts"
import { Money } from "../../ui/values.tsx"

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
