import { useState } from "preact/hooks"
import { api, ApiError, withParams } from "../../api/client.ts"
import type { ContentTest } from "../../api/account-types.ts"
import type { CallPage, CallStory } from "../../api/types.ts"
import { count, plural } from "../../format/number.ts"
import { workspaceId } from "../../state/session.ts"
import { Button } from "../../ui/button.tsx"
import { Chip } from "../../ui/chip.tsx"
import { ErrorPanel } from "../../ui/states.tsx"
import { Status, type Tone } from "../../ui/status.tsx"
import { Time } from "../../ui/values.tsx"
import { messagesIn, textOf } from "../calls/content.ts"
import { type Draft, rulesOf } from "./draft.ts"

const DAY_MS = 86_400_000
const MAX_CALLS = 50
const AT_ONCE = 4
/** The longest text that the API tests. */
const MAX_TEXT = 200_000

type Found = { call: CallStory; action: "block" | "redact" | "flag"; patterns: readonly string[] }
type Result = { rules: string; calls: number; tested: number; found: readonly Found[] }

const TONES: Record<Found["action"], Tone> = { block: "bad", redact: "warn", flag: "busy" }
const VERBS = { block: "blocked", redact: "redacted", flag: "flagged" } as const

/** Simulates the unsaved rules of a draft on the logged calls of the last 24 hours. */
export function History({ draft }: { draft: Draft }) {
  const [result, setResult] = useState<Result>()
  const [progress, setProgress] = useState<string>()
  const [error, setError] = useState<ApiError>()
  const rules = JSON.stringify(rulesOf(draft))
  const run = async () => {
    setError(undefined)
    setProgress("Reading the calls")
    try {
      setResult(await testCalls(rules, (done, all) => setProgress(`${count(done)} of ${plural(all, "call")}`)))
    } catch (thrown) {
      setError(ApiError.fromThrown(thrown))
    }
    setProgress(undefined)
  }
  // A result of other rules would mislead.
  const shown = result?.rules === rules ? result : undefined
  return (
    <section class="stack tight" aria-label="Calls of the last 24 hours">
      <div class="row between">
        <h2>Calls of the last 24 hours</h2>
        <Button size="small" icon="play" busy={progress !== undefined} onClick={() => run()}>
          Try on calls
        </Button>
      </div>
      <div role="status" aria-live="polite">
        {progress !== undefined && <p class="quiet">{progress}</p>}
        {progress === undefined && !shown && (
          <p class="quiet">
            {result
              ? "The rules have changed since."
              : `What these rules would have done to the newest ${MAX_CALLS} calls.`}
          </p>
        )}
        {progress === undefined && shown && <Summary result={shown} />}
      </div>
      {error && <ErrorPanel error={error} />}
      {shown && shown.found.length > 0 && (
        <ul class="stack tight" aria-label="Affected calls">
          {shown.found.map(({ call, action, patterns }) => (
            <li key={call.id} class="row nowrap">
              <Status tone={TONES[action]}>{VERBS[action]}</Status>
              <span class="quiet truncate grow">{patterns.join(", ")}</span>
              <Chip kind="key" id={call.key.hash} label={call.key.name ?? "bootstrap"} />
              <a class="nowrap" href={`/calls/${call.id}`}>
                <Time at={call.created_at} />
              </a>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function Summary({ result: { calls, tested, found } }: { result: Result }) {
  if (calls === 0) return <p class="quiet">No calls in the last 24 hours.</p>
  if (tested === 0)
    return (
      <p class="quiet">
        None of the {plural(calls, "call")} has logged content. Turn on content logging of the{" "}
        <a href={`/team?tab=workspaces&workspace=${workspaceId.value ?? ""}`}>workspace</a> first.
      </p>
    )
  const parts = (["block", "redact", "flag"] as const)
    .map((action) => ({ action, calls: found.filter((each) => each.action === action).length }))
    .filter(({ calls: each }) => each > 0)
    .map(({ action, calls: each }) => `${count(each)} ${VERBS[action]}`)
  return (
    <p>
      Of {plural(tested, "call")} with logged content, {parts.length === 0 ? "none is affected" : parts.join(", ")}.
    </p>
  )
}

/** Tests the messages of the newest calls, a few at once. Only calls with logged content have some. */
async function testCalls(rules: string, onProgress: (done: number, all: number) => void): Promise<Result> {
  const from = new Date(Date.now() - DAY_MS).toISOString()
  const path = withParams("/calls", { from, workspace: workspaceId.value, status: "!refused", limit: MAX_CALLS })
  const { data } = await api<CallPage>(path)
  const found: Found[] = []
  let tested = 0
  let done = 0
  const waiting = [...data]
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const { data: call } = await api<{ data: CallStory }>(`/calls/${next.id}`)
      const text = messagesIn(call)
        .map(({ content }) => textOf(content))
        .join("\n")
        .slice(0, MAX_TEXT)
      if (text !== "") {
        tested += 1
        const body = { ...(JSON.parse(rules) as object), text }
        const { data: test } = await api<{ data: ContentTest }>("/guardrails/test", { method: "POST", body })
        const { action } = test
        if (action === "block" || action === "redact" || action === "flag")
          found.push({ call, action, patterns: test.patterns })
      }
      done += 1
      onProgress(done, data.length)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  const newestFirst = found.toSorted((a, b) => b.call.created_at.localeCompare(a.call.created_at))
  return { rules, calls: data.length, tested, found: newestFirst }
}
