import "./batches.css"
import type { ComponentChildren } from "preact"
import { Fragment } from "preact"
import { useEffect, useState } from "preact/hooks"
import { api, withParams } from "../../api/client.ts"
import { downloadFile } from "../../api/files.ts"
import { invalidate, useGet } from "../../api/query.ts"
import type { Batch, StoredFile } from "../../api/types.ts"
import { bytes, count } from "../../format/number.ts"
import { useEscape } from "../../shell/keyboard.ts"
import { Page } from "../../shell/page.tsx"
import type { PageProps } from "../../state/paths.ts"
import { navigate } from "../../state/router.ts"
import { may, workspaceId } from "../../state/session.ts"
import { attempt } from "../../state/toasts.ts"
import { Button } from "../../ui/button.tsx"
import { Chip } from "../../ui/chip.tsx"
import { ConfirmDialog } from "../../ui/dialog.tsx"
import { Loaded } from "../../ui/states.tsx"
import { Status } from "../../ui/status.tsx"
import { Count, Money, Time } from "../../ui/values.tsx"
import { describeFile, endOf, type InputFile, isUnfinished, mayCancel, ms, stateOf, titleOf } from "./batch.ts"
import { Progress } from "./progress.tsx"
import { usePolling } from "../../ui/hooks/use-polling.ts"
import { POLL_MS, SETTLED_AFTER_MS } from "./timing.ts"

const IN_FLIGHT = 4

const inWorkspace = (path: string, more: Record<string, string> = {}) =>
  withParams(path, { workspace_id: workspaceId.value, ...more })

export default function BatchPage({ params }: PageProps) {
  const id = params["id"] ?? ""
  const query = useGet<Batch>(inWorkspace(`/batches/${encodeURIComponent(id)}`))
  const [isCancelling, setCancelling] = useState(false)
  useEscape(() => navigate("/batches"), [])
  const batch = query.data
  usePolling(batch !== undefined && isUnfinished(batch), POLL_MS, query.refresh)
  return (
    <Page
      title={batch ? titleOf(batch) : "Batch"}
      crumb={<a href="/batches">Batches</a>}
      controls={
        batch &&
        mayCancel(batch) &&
        may("batches:write") && (
          <Button kind="danger" onClick={() => setCancelling(true)}>
            Cancel the batch
          </Button>
        )
      }
    >
      <Loaded query={query}>
        {(data) => (
          <div class="read stack wide">
            <Story batch={data} />
            <Results batch={data} />
            {data.errors && <Errors errors={data.errors.data} isFailed={data.status === "failed"} />}
            <Facts batch={data} />
            {isCancelling && <CancelDialog batch={data} onClose={() => setCancelling(false)} />}
          </div>
        )}
      </Loaded>
    </Page>
  )
}

/** The state of a batch, and the results of its requests. */
function Story({ batch }: { batch: Batch }) {
  const { tone, text } = stateOf(batch)
  const { total, completed, failed } = batch.request_counts
  const cost = useCost(batch)
  return (
    <section class="stack tight" aria-label="Progress">
      <div class="row" role="status">
        <Status tone={tone}>{text}</Status>
      </div>
      <Progress batch={batch} isLarge />
      <div class="figures">
        <Figure name="succeeded">
          <Count value={completed} />
        </Figure>
        <Figure name="failed">
          <Count value={failed} />
        </Figure>
        <Figure name={isUnfinished(batch) ? "to do" : "did not run"}>
          <Count value={total - completed - failed} />
        </Figure>
        <Figure name={isUnfinished(batch) ? "cost so far" : "cost"}>
          <Money value={cost} />
        </Figure>
      </div>
      <p class="small quiet">
        <a href={`/calls?session_id=${batch.id}&range=30d`}>Calls of this batch</a>
        {" · "}The cost counts calls with this batch as their session, some seconds after they end.
      </p>
    </section>
  )
}

function Figure({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <span class="value">{children}</span>
      <span class="name">{name}</span>
    </div>
  )
}

/** A sum over all calls: read after every tenth of the requests, and after the last is charged. */
function useCost(batch: Batch): number | undefined {
  const path = inWorkspace(`/batches/${batch.id}`, { include_cost: "true" })
  const { data } = useGet<Batch>(path)
  const { total, completed, failed } = batch.request_counts
  const tenth = total === 0 ? 0 : Math.floor(((completed + failed) * 10) / total)
  useEffect(() => {
    invalidate(path)
    const timer = setTimeout(() => invalidate(path), SETTLED_AFTER_MS)
    return () => clearTimeout(timer)
  }, [path, tenth, batch.status])
  return data?.cost
}

function Results({ batch }: { batch: Batch }) {
  const { output_file_id: output, error_file_id: errors } = batch
  return (
    <section class="stack tight" aria-label="Results">
      <h2>Results</h2>
      {output === null && errors === null && (
        <p class="quiet">
          {isUnfinished(batch) ? "They can be downloaded when the batch has ended." : "The batch wrote no results."}
        </p>
      )}
      {output !== null && <FileLine id={output} label="Download results" note="Responses of requests that succeeded" />}
      {errors !== null && (
        <FileLine id={errors} label="Download errors" note="Requests that failed or did not run, with the reason" />
      )}
    </section>
  )
}

/** The file may have been deleted. */
function FileLine({ id, label, note }: { id: string; label: string; note: string }) {
  const file = useGet<StoredFile>(inWorkspace(`/files/${id}`))
  const [busy, setBusy] = useState(false)
  const download = async (stored: StoredFile) => {
    setBusy(true)
    await attempt(() => downloadFile(stored), "The download has started")
    setBusy(false)
  }
  const stored = file.data
  return (
    <div class="row">
      <Button busy={busy} disabled={!stored} onClick={() => stored && download(stored)}>
        {label}
      </Button>
      <span class="quiet">
        {note}
        {stored && `, ${bytes(stored.size_bytes)}`}
        {file.error && ` (${file.error.message})`}
      </span>
    </div>
  )
}

type BatchErrors = NonNullable<Batch["errors"]>["data"]

function Errors({ errors, isFailed }: { errors: BatchErrors; isFailed: boolean }) {
  return (
    <section class="stack tight" aria-label="Errors in the file">
      <h2>{isFailed ? "Why it failed" : "What is wrong"}</h2>
      <ul class="batch-errors">
        {errors.map(({ line, code, message, param }) => (
          <li key={`${line ?? ""} ${code} ${message}`}>
            <span class="quiet num">{line === null ? "file" : `line ${count(line)}`}</span>
            <span>
              {message}
              {param !== null && <code class="quiet"> {param}</code>}
            </span>
          </li>
        ))}
      </ul>
      {isFailed && (
        <p class="quiet">No request ran and nothing was charged. Correct the file and start another batch.</p>
      )}
    </section>
  )
}

function Facts({ batch }: { batch: Batch }) {
  const { id, endpoint, usage, metadata, input_file_id: input } = batch
  const file = useGet<InputFile>(inWorkspace(`/files/${input}`))
  const end = endOf(batch)
  const pairs = Object.entries(metadata ?? {})
  return (
    <dl class="facts">
      <dt>Id</dt>
      <dd>
        <code>{id}</code>
      </dd>
      <dt>Endpoint</dt>
      <dd>
        <code>{endpoint}</code>
      </dd>
      <dt>Runs</dt>
      <dd>
        {batch.provider === undefined ? (
          "as ordinary calls"
        ) : (
          <>
            in batches of <Chip kind="provider" id={batch.provider} />
          </>
        )}
      </dd>
      <dt>Input</dt>
      <dd>{file.data ? describeFile(file.data) : <code>{input}</code>}</dd>
      <dt>Tokens</dt>
      <dd>
        {count(usage.input_tokens)} in, {count(usage.output_tokens)} out
      </dd>
      <dt>Created</dt>
      <dd>
        <Time at={ms(batch.created_at)} />
      </dd>
      {batch.in_progress_at !== null && (
        <>
          <dt>Started</dt>
          <dd>
            <Time at={ms(batch.in_progress_at)} />
          </dd>
        </>
      )}
      <dt>{end === null ? "Expires" : "Ended"}</dt>
      <dd>
        <Time at={ms(end ?? batch.expires_at)} />
      </dd>
      {pairs.map(([name, value]) => (
        <Fragment key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </Fragment>
      ))}
    </dl>
  )
}

function CancelDialog({ batch, onClose }: { batch: Batch; onClose: () => void }) {
  const { total, completed, failed } = batch.request_counts
  const remaining = Math.max(0, total - completed - failed)
  const cancel = async () => {
    const path = inWorkspace(`/batches/${batch.id}/cancel`)
    await attempt(() => api(path, { method: "POST", body: {} }), "No further request of the batch starts.")
    invalidate("/batches")
  }
  return (
    <ConfirmDialog title={`Cancel ${titleOf(batch)}?`} action="Cancel the batch" onConfirm={cancel} onClose={onClose}>
      <p>
        {total === 0
          ? "Its requests do not start."
          : `${count(remaining)} of ${count(total)} ${total === 1 ? "request has" : "requests have"} not ended: those that have not started do not run, and up to ${IN_FLIGHT} in flight end and are charged.`}
      </p>
      <p>Completed requests are in the results. A cancelled batch cannot be continued.</p>
    </ConfirmDialog>
  )
}
