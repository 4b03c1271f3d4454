import { useState } from "preact/hooks"
import { ApiError, call, withParams } from "../../api/client.ts"
import { duration } from "../../format/time.ts"
import { Button } from "../../ui/button.tsx"
import { Code } from "../../ui/text/code.tsx"
import { TextArea, TextField } from "../../ui/field.tsx"
import { Status } from "../../ui/status.tsx"
import { bodyExample, type Document, type Entry } from "./document.ts"

type Result = { status: number; ms: number; text: string; requestId: string | null }

const MAX_SHOWN = 200_000

/** Sends the operation with the session of this page. */
export function TryIt({ entry, document }: { entry: Entry; document: Document }) {
  const { method, path, operation } = entry
  const parameters = (operation.parameters ?? []).filter((each) => each.in === "path" || each.in === "query")
  const example = bodyExample(operation, document)
  const [values, setValues] = useState<Record<string, string>>({})
  const [body, setBody] = useState(example === undefined ? "" : JSON.stringify(example, null, 2))
  const [result, setResult] = useState<Result>()
  const [busy, setBusy] = useState(false)
  const missing = parameters.filter(({ name, required }) => required === true && !values[name])
  const send = async () => {
    setBusy(true)
    const started = performance.now()
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ""))
    const search = Object.fromEntries(
      parameters.filter((each) => each.in === "query").map(({ name }) => [name, values[name]]),
    )
    try {
      const response = await call(withParams(filled, search), {
        method: method.toUpperCase(),
        ...(body !== "" && { body: JSON.parse(body) }),
      })
      const text = await response.text()
      setResult({
        status: response.status,
        ms: performance.now() - started,
        text: indent(text),
        requestId: response.headers.get("x-request-id"),
      })
    } catch (thrown) {
      const { status, message, requestId } = ApiError.fromThrown(thrown)
      setResult({ status, ms: performance.now() - started, text: message, requestId })
    }
    setBusy(false)
  }
  return (
    <div class="stack">
      {parameters.length > 0 && (
        <div class="try-parameters">
          {parameters.map(({ name, required }) => (
            <TextField
              key={name}
              label={required === true ? `${name} (required)` : name}
              value={values[name] ?? ""}
              onChange={(value) => setValues({ ...values, [name]: value })}
            />
          ))}
        </div>
      )}
      {example !== undefined && (
        <TextArea
          label="Body"
          code
          rows={Math.min(18, body.split("\n").length + 1)}
          value={body}
          onChange={setBody}
          fault={isJson(body) ? undefined : "must be valid JSON"}
        />
      )}
      <div class="row">
        <Button
          kind="primary"
          busy={busy}
          disabled={missing.length > 0 || (example !== undefined && !isJson(body))}
          onClick={() => send()}
        >
          Send {method.toUpperCase()}
        </Button>
        {method !== "get" && <span class="quiet small">Runs for real, with the rights of your session.</span>}
      </div>
      {result && (
        <>
          <p class="row small">
            <Status tone={result.status >= 200 && result.status < 300 ? "good" : "bad"}>
              {result.status === 0 ? "no response" : result.status}
            </Status>
            <span class="num">{duration(result.ms)}</span>
            <span class="mono quiet">{result.requestId}</span>
          </p>
          <Code text={result.text.slice(0, MAX_SHOWN)} label="Response" />
        </>
      )}
    </div>
  )
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function indent(text: string): string {
  return isJson(text) ? JSON.stringify(JSON.parse(text), null, 2) : text
}
