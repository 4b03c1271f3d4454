import { useState } from "preact/hooks"
import type { CallStory } from "../../api/types.ts"
import { BudgetStrip } from "../../ui/charts/budget-strip.tsx"
import { InlineText } from "../../ui/text/inline-text.tsx"
import { Marked } from "../../ui/text/marked.tsx"
import { TimeLeft } from "../../ui/time-left.tsx"
import { WindowStrip } from "../../ui/charts/window-strip.tsx"
import { CallPath } from "../calls/call-path.tsx"
import { Example } from "./example.tsx"

const START = Date.UTC(2026, 0, 5, 14)
const iso = (ms: number) => new Date(START + ms).toISOString()
const attempt = { model: "openai/gpt-5.5", is_byok: false, key_number: null, cache: null, error: null }

const STORY: Pick<CallStory, "times" | "trail" | "guardrails"> = {
  times: { received: iso(0), sent: iso(150), first_token: iso(460), last_token: iso(1_900), settled: iso(1_912) },
  trail: [
    {
      ...attempt,
      provider: "OpenAI",
      status: 429,
      duration_ms: 120,
      key_number: 2,
      error: { code: "rate_limited", message: "Rate limit reached for gpt-5.5 in this organization." },
    },
    { ...attempt, provider: "Azure", status: 200, duration_ms: 310, is_byok: true },
  ],
  guardrails: [{ id: "a", name: "Personal data", scope: "workspace", action: "redact", patterns: ["email"] }],
}

const BUDGETS = [
  { limit_usd: 25, reset_interval: "daily", spent_usd: 22.4, held_usd: 0.3 },
  { limit_usd: 100, reset_interval: "weekly", spent_usd: 100.2, held_usd: 0 },
  { limit_usd: 300, reset_interval: "monthly", spent_usd: 112.25, held_usd: 1.2 },
]

const START_OF_COUNTDOWN = Date.now() + 245_000

/** Components of single pages and of limits over time. */
export function Parts() {
  const [name, setName] = useState("ci")
  return (
    <>
      <Example title="Path of a call">
        <CallPath story={STORY} />
      </Example>
      <Example title="Budgets and their windows">
        <BudgetStrip budgets={BUDGETS} pathOf={() => ""} isEditable={false} onChange={() => {}} />
        <div class="split">
          <WindowStrip interval="daily" />
          <WindowStrip interval="weekly" />
          <WindowStrip interval="monthly" />
        </div>
      </Example>
      <Example title="Text edited in place">
        <InlineText label="name" value={name} isEditable onSave={async (text) => setName(text)} />
        <InlineText label="name" value="Not editable" isEditable={false} onSave={async () => {}} />
      </Example>
      <Example title="Countdown and findings">
        <TimeLeft deadline={START_OF_COUNTDOWN} />
        <p>
          <Marked
            text="Write to ada@example.com."
            matches={[{ start: 9, end: 24, pattern: "email", action: "redact" }]}
          />
        </p>
      </Example>
    </>
  )
}
