import { useEffect, useRef, useState } from "preact/hooks"
import { api, ApiError } from "../../api/client.ts"
import type { ContentTest } from "../../api/account-types.ts"
import { toast } from "../../state/toasts.ts"
import { Button } from "../../ui/button.tsx"
import { TextArea } from "../../ui/field.tsx"
import { Marked } from "../../ui/text/marked.tsx"
import { Status, type Tone } from "../../ui/status.tsx"
import { type Draft, rulesOf } from "./draft.ts"

const SAMPLE =
  "Hello, I am Ada Lovelace. Write to ada@example.com or call +49 30 901820.\nMy card is 4111 1111 1111 1111, my key sk-proj-abcdefghijklmnopqrstuvwxyz0123456789."
const WAIT_MS = 200
/** Pieces of providers have any length. */
const LONGEST_PIECE = 14
const PIECE_MS = 120

const TONES: Record<string, { tone: Tone; text: string }> = {
  block: { tone: "bad", text: "The request is blocked" },
  redact: { tone: "warn", text: "Parts are redacted" },
  flag: { tone: "busy", text: "Parts are flagged" },
  none: { tone: "good", text: "Nothing was found" },
}

/** Tests the rules of a draft on a text while it is typed. Saving is not needed. */
export function Tester({ draft }: { draft: Draft }) {
  const [text, setText] = useState(SAMPLE)
  /** Characters streamed so far; null for the complete text. */
  const [arrived, setArrived] = useState<number | null>(null)
  const shown = arrived === null ? text : text.slice(0, arrived)
  const { result, error } = useTest(shown, draft)
  useEffect(() => {
    if (arrived === null) return undefined
    if (arrived >= text.length) {
      setArrived(null)
      return undefined
    }
    const timer = setTimeout(() => setArrived(arrived + 1 + Math.floor(Math.random() * LONGEST_PIECE)), PIECE_MS)
    return () => clearTimeout(timer)
  }, [arrived, text])
  const verdict = TONES[result?.action ?? "none"]
  return (
    <section class="stack" aria-label="Tester">
      <div class="row between">
        <h2>Try it</h2>
        <Button
          size="small"
          icon={arrived === null ? "play" : "stop"}
          onClick={() => setArrived(arrived === null ? 0 : null)}
        >
          {arrived === null ? "Stream it" : "Stop"}
        </Button>
      </div>
      <TextArea label="Text" value={text} onChange={setText} rows={6} />
      <div class="row between" role="status" aria-live="polite">
        {verdict && <Status tone={verdict.tone}>{verdict.text}</Status>}
        <span class="quiet small">{result?.patterns.join(", ")}</span>
      </div>
      {draft.checks.some(({ direction }) => direction !== "output") && <CheckRun text={text} draft={draft} />}
      {error && <div class="notice bad">{error}</div>}
      <div>
        <h3>Findings</h3>
        <pre class="tested" dir="auto" tabIndex={0} role="region" aria-label="Findings in the text">
          {result ? <Marked text={shown} matches={result.matches} /> : shown}
        </pre>
      </div>
      <div>
        <h3>Text after the rules</h3>
        <pre class="tested" dir="auto" tabIndex={0} role="region" aria-label="Text after the rules">
          {result?.action === "block" ? (
            <span class="quiet">None: the request is rejected with 403.</span>
          ) : (
            result?.text
          )}
        </pre>
      </div>
    </section>
  )
}

const resultOf = ({ available, flagged, categories }: ContentTest["checks"][number]): { tone: Tone; text: string } => {
  if (!available) return { tone: "bad", text: "not available" }
  if (!flagged) return { tone: "good", text: "passed" }
  return { tone: "warn", text: categories.length > 0 ? `flagged: ${categories.join(", ")}` : "flagged" }
}

/** Sends the text to the external checks of requests on a click: they may cost money, and others operate them. */
function CheckRun({ text, draft }: { text: string; draft: Draft }) {
  const [results, setResults] = useState<ContentTest["checks"]>()
  const [busy, setBusy] = useState(false)
  const rules = JSON.stringify({ ...rulesOf(draft), content_checks: draft.checks })
  useEffect(() => setResults(undefined), [text, rules])
  const run = async () => {
    setBusy(true)
    try {
      const body = { ...(JSON.parse(rules) as object), text, run_checks: true }
      const { data } = await api<{ data: ContentTest }>("/guardrails/test", { method: "POST", body })
      setResults(data.checks)
    } catch (thrown) {
      toast("bad", ApiError.fromThrown(thrown).message)
    }
    setBusy(false)
  }
  return (
    <div class="row between">
      <Button size="small" icon="play" busy={busy} onClick={() => run()}>
        Run external checks
      </Button>
      <ul class="row" aria-label="Results of external checks" aria-live="polite">
        {results?.length === 0 && <li class="quiet small">The text is blocked before the checks.</li>}
        {results?.map((one) => {
          const { tone, text: shown } = resultOf(one)
          return (
            <li key={one.name}>
              <Status tone={tone}>
                {one.name}: {shown}
              </Status>
            </li>
          )
        })}
      </ul>
    </div>
  )
}

/** The last result stays until the next one has arrived. */
function useTest(text: string, draft: Draft): { result: ContentTest | undefined; error: string | undefined } {
  const [result, setResult] = useState<ContentTest>()
  const [error, setError] = useState<string>()
  const last = useRef(0)
  const rules = JSON.stringify(rulesOf(draft))
  useEffect(() => {
    last.current += 1
    const turn = last.current
    const timer = setTimeout(() => {
      const body = { ...(JSON.parse(rules) as object), text }
      api<{ data: ContentTest }>("/guardrails/test", { method: "POST", body }).then(
        ({ data }) => {
          if (turn !== last.current) return
          setResult(data)
          setError(undefined)
        },
        (thrown: unknown) => turn === last.current && setError(ApiError.fromThrown(thrown).message),
      )
    }, WAIT_MS)
    return () => clearTimeout(timer)
  }, [text, rules])
  return { result, error }
}
