import { useState } from "preact/hooks"
import type * as z from "zod"
import type { AlertRecord } from "../../../alerts/schemas.ts"
import type { Probe as ProbeSchema } from "../../../observability/schemas.ts"
import { api, ApiError, withParams } from "../../api/client.ts"
import { useAll } from "../../api/pages.ts"
import { invalidate, useGet } from "../../api/query.ts"
import type { List } from "../../api/types.ts"
import { count, plural } from "../../format/number.ts"
import { now } from "../../format/time.ts"
import { may, workspaceId } from "../../state/session.ts"
import { attempt, attemptToggle } from "../../state/toasts.ts"
import { Button } from "../../ui/button.tsx"
import { ConfirmDialog } from "../../ui/dialog.tsx"
import { Empty, Loaded } from "../../ui/states.tsx"
import { Status, type Tone } from "../../ui/status.tsx"
import { usePolling } from "../../ui/hooks/use-polling.ts"
import { Time } from "../../ui/values.tsx"
import { type Destination, DestinationForm } from "./destination-form.tsx"

type Alert = z.infer<typeof AlertRecord>
type Probe = z.infer<typeof ProbeSchema>

const PATH = "/observability/destinations"
const MAX_OUTAGES = 10

/** The first URL of a configuration. */
function targetOf({ config }: Destination): string | undefined {
  const urls = Object.values(config).filter((value) => typeof value === "string")
  return urls.find((value) => value.startsWith("http"))
}

function Facts({ destination }: { destination: Destination }) {
  return (
    <dl class="facts">
      <dt>Sent last</dt>
      <dd>
        <Time at={destination.last_success_at} />
      </dd>
      {destination.last_error !== null && (
        <>
          <dt>Last error</dt>
          <dd>
            {destination.last_error}, <Time at={destination.last_error_at} />
          </dd>
        </>
      )}
      {destination.backlog > 0 && (
        <>
          <dt>Next attempt</dt>
          <dd>
            <NextAttempt at={destination.next_attempt_at} />
            {destination.failures > 0 && `, after ${plural(destination.failures, "failure")} in a row`}
          </dd>
        </>
      )}
      <dt>To</dt>
      <dd>
        <code>{targetOf(destination)}</code>
      </dd>
      <dt>Share of calls</dt>
      <dd>
        {destination.sampling_rate * 100} %{destination.privacy_mode ? ", without content" : ""}
      </dd>
    </dl>
  )
}

const POLL_MS = 5_000

/** Reads the states again while something waits or fails, as long as the page is seen. */
function useLive(list: readonly Destination[] | undefined): void {
  const isBusy = list?.some(({ enabled, backlog, failures }) => enabled && (backlog > 0 || failures > 0)) ?? false
  usePolling(isBusy, POLL_MS, () => invalidate(PATH))
}

/** An attempt that is due is about to be made. */
function NextAttempt({ at }: { at: string | null }) {
  return at === null || Date.parse(at) <= now.value ? <>now</> : <Time at={at} />
}

/** Recorded alerts about the destination, newest first. */
function Outages({ destination: { id, workspace_id } }: { destination: Destination }) {
  const path = withParams("/alerts", { kind: "destination_failing", workspace_id, limit: 50 })
  const alerts = useGet<List<Alert>>(may("alerts:read") ? path : null)
  const recorded = alerts.data?.data.filter(({ data }) => data["destination_id"] === id).slice(0, MAX_OUTAGES) ?? []
  if (recorded.length === 0) return null
  return (
    <details class="fold">
      <summary>{plural(recorded.length, "outage")}</summary>
      <ul class="stack tight" aria-label="Outages">
        {recorded.map(({ id: alertId, message, created_at: at }) => (
          <li key={alertId}>
            <Time at={at} /> <span class="quiet">{message}</span>
          </li>
        ))}
      </ul>
    </details>
  )
}

/** Where call records are exported. */
export function Destinations() {
  const list = useAll<Destination>(withParams(PATH, { workspace_id: workspaceId.value }))
  useLive(list.data?.data)
  const [isMaking, setMaking] = useState(false)
  return (
    <div class="stack">
      <div class="row between">
        <h2>Destinations</h2>
        <Button kind="primary" icon="plus" onClick={() => setMaking(true)}>
          New destination
        </Button>
      </div>
      <Loaded query={list}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="Calls of this workspace are not exported">
              <p>Send them to an OTLP collector, a webhook, S3 or a tracing product. Delivery is at least once.</p>
            </Empty>
          ) : (
            <div class="stack">
              {data.map((destination) => (
                <Card key={destination.id} destination={destination} />
              ))}
            </div>
          )
        }
      </Loaded>
      {isMaking && <DestinationForm onClose={() => setMaking(false)} />}
    </div>
  )
}

function stateOf({ enabled, last_error_at: failed, last_success_at: done, backlog, dead_letters: dead }: Destination): {
  tone: Tone
  text: string
} {
  if (!enabled) return { tone: "off", text: "off" }
  const isFailing = failed !== null && (done === null || failed > done)
  if (dead > 0) return { tone: "bad", text: `${count(dead)} calls were not delivered` }
  if (isFailing) return { tone: "bad", text: "failing" }
  if (backlog > 0) return { tone: "warn", text: `${count(backlog)} calls are queued` }
  return done === null ? { tone: "off", text: "nothing sent yet" } : { tone: "good", text: "delivering" }
}

function Card({ destination }: { destination: Destination }) {
  const { id, type, enabled } = destination
  const name = destination.name ?? type
  const path = `${PATH}/${id}`
  const [probe, setProbe] = useState<Probe>()
  const [fault, setFault] = useState<string>()
  const [isTesting, setTesting] = useState(false)
  const [isDeleting, setDeleting] = useState(false)
  const [isChanging, setChanging] = useState(false)
  const { tone, text } = stateOf(destination)
  const change = async (work: () => Promise<unknown>, done: string) => {
    await attempt(work, done)
    invalidate(PATH)
  }
  const turn = async (isOn: boolean) => {
    await api(path, { method: "PATCH", body: { enabled: isOn } })
    invalidate(PATH)
  }
  const test = async () => {
    setTesting(true)
    setFault(undefined)
    try {
      setProbe((await api<{ data: Probe }>(`${path}/test`, { method: "POST" })).data)
    } catch (thrown) {
      setFault(ApiError.fromThrown(thrown).message)
    }
    setTesting(false)
  }
  return (
    <section class="settings-card stack" aria-label={name}>
      <div class="row between">
        <h3>
          {name} <span class="quiet">{type}</span>
        </h3>
        <Status tone={tone}>{text}</Status>
      </div>
      <Facts destination={destination} />
      <Outages destination={destination} />
      {probe && (
        <div class={`notice ${probe.ok ? "good" : "bad"}`} role="status">
          {probe.ok ? "The test call was accepted" : "The test call was rejected"}
          {probe.status === null ? "" : ` (status ${probe.status})`} in {probe.latency_ms} ms: {probe.message}
        </div>
      )}
      {fault && <div class="notice bad">{fault}</div>}
      <div class="row">
        <Button size="small" busy={isTesting} onClick={() => test()}>
          Send a test call
        </Button>
        {destination.backlog + destination.dead_letters > 0 && (
          <Button
            size="small"
            onClick={() => change(() => api(`${path}/redeliver`, { method: "POST" }), "Queued calls are sent again")}
          >
            Send what waits now
          </Button>
        )}
        <Button
          size="small"
          onClick={() =>
            attemptToggle(!enabled, turn, (isOn) => `${name} ${isOn ? "receives calls again" : "receives no calls"}`)
          }
        >
          {enabled ? "Turn off" : "Turn on"}
        </Button>
        <Button size="small" onClick={() => setChanging(true)}>
          Edit
        </Button>
        <Button size="small" kind="danger" onClick={() => setDeleting(true)}>
          Delete
        </Button>
      </div>
      {isChanging && <DestinationForm destination={destination} onClose={() => setChanging(false)} />}
      {isDeleting && (
        <ConfirmDialog
          title={`Delete ${name}?`}
          action="Delete"
          onConfirm={() => change(() => api(path, { method: "DELETE" }), `${name} is deleted`)}
          onClose={() => setDeleting(false)}
        >
          <p>{count(destination.backlog + destination.dead_letters)} queued calls are dropped.</p>
        </ConfirmDialog>
      )}
    </section>
  )
}
