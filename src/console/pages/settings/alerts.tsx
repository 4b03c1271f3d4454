import { useState } from "preact/hooks"
import type * as z from "zod"
import type { AlertRecord, Channel as ChannelSchema, Settings as SettingsSchema } from "../../../alerts/schemas.ts"
import { api, ApiError, withParams } from "../../api/client.ts"
import { useAll } from "../../api/pages.ts"
import { invalidate, useGet } from "../../api/query.ts"
import type { List } from "../../api/types.ts"
import { workspaceId } from "../../state/session.ts"
import { attempt, attemptToggle, toast } from "../../state/toasts.ts"
import { Button } from "../../ui/button.tsx"
import { ConfirmDialog } from "../../ui/dialog.tsx"
import { Check, TextField } from "../../ui/field.tsx"
import { Empty, Loaded } from "../../ui/states.tsx"
import { Status, type Tone } from "../../ui/status.tsx"
import { Time } from "../../ui/values.tsx"
import { NewChannel } from "./new-channel.tsx"

type Alert = z.infer<typeof AlertRecord>
type Channel = z.infer<typeof ChannelSchema>
type Settings = z.infer<typeof SettingsSchema>

const CHANNELS = "/alerts/channels"
const SETTINGS = "/alerts/settings"

const TONES: Record<Alert["kind"], Tone> = {
  limit_threshold: "warn",
  limit_refused: "bad",
  provider_outage: "bad",
  destination_failing: "bad",
  unusual_spend: "warn",
}

/** Alert channels, settings and recent alerts. */
export function Alerts() {
  const channels = useAll<Channel>(CHANNELS)
  const alerts = useGet<List<Alert>>(withParams("/alerts", { limit: 50, workspace_id: workspaceId.value }))
  const [isCreating, setCreating] = useState(false)
  return (
    <div class="stack">
      <div class="row between">
        <h2>Alert channels</h2>
        <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
          New channel
        </Button>
      </div>
      <Loaded query={channels}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No alert channels">
              <p>Send alerts to Slack, by e-mail or to a webhook: limits that fill up, outages, unusual spend.</p>
            </Empty>
          ) : (
            <div class="stack">
              {data.map((channel) => (
                <Card key={channel.id} channel={channel} />
              ))}
            </div>
          )
        }
      </Loaded>
      <Thresholds />
      <h2>Recent alerts</h2>
      <Loaded query={alerts}>
        {({ data }) =>
          data.length === 0 ? (
            <p class="quiet">No alerts yet.</p>
          ) : (
            <ul class="alerts" aria-label="Recent alerts">
              {data.map((alert) => (
                <Row key={alert.id} alert={alert} />
              ))}
            </ul>
          )
        }
      </Loaded>
      {isCreating && <NewChannel onClose={() => setCreating(false)} />}
    </div>
  )
}

function Row({ alert: { kind, message, created_at: at, deliveries } }: { alert: Alert }) {
  const failed = deliveries.filter(({ state }) => state !== "delivered")
  const sent =
    deliveries.length === 0
      ? "sent to no channel"
      : failed.length === 0
        ? "delivered"
        : failed.map(({ state, last_error: error }) => error ?? state).join(", ")
  return (
    <li class="stack tight">
      <div class="row between">
        <Status tone={TONES[kind]}>{kind.replaceAll("_", " ")}</Status>
        <span class="quiet small">
          <Time at={at} /> · {sent}
        </span>
      </div>
      <span>{message}</span>
    </li>
  )
}

function Thresholds() {
  const query = useGet<{ data: Settings }>(SETTINGS)
  const settings = query.data?.data
  const [text, setText] = useState<string>()
  if (!settings) return null
  const shown = text ?? settings.thresholds.join(", ")
  const thresholds = shown
    .split(/[\s,;%]+/)
    .filter((part) => part !== "")
    .map(Number)
  const save = async (change: Partial<Settings>) => {
    const isSaved = await attempt(() => api(SETTINGS, { method: "PATCH", body: change }), "Saved")
    if (isSaved && change.thresholds) setText(undefined)
    invalidate(SETTINGS)
  }
  const toggle = (field: "provider_outages" | "failing_destinations" | "unusual_spend", label: string) => (
    <Check label={label} checked={settings[field]} onChange={(checked) => void save({ [field]: checked })} />
  )
  return (
    <section class="settings-card stack" aria-label="Alerts to send">
      <h3>Alerts to send</h3>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault()
          void save({ thresholds })
        }}
      >
        <TextField
          label="Thresholds in percent"
          hint="For limits of keys and guardrails, budgets, and the balance."
          value={shown}
          onChange={setText}
        />
        <Button type="submit" disabled={text === undefined}>
          Save
        </Button>
      </form>
      {toggle("provider_outages", "Providers that fail")}
      {toggle("failing_destinations", "Destinations that fail")}
      {toggle("unusual_spend", "Unusual spend of a workspace")}
    </section>
  )
}

function stateOf({ enabled, last_error_at: failed, last_success_at: done }: Channel): { tone: Tone; text: string } {
  if (!enabled) return { tone: "off", text: "off" }
  if (failed !== null && (done === null || failed > done)) return { tone: "bad", text: "failing" }
  return done === null ? { tone: "off", text: "nothing sent yet" } : { tone: "good", text: "delivering" }
}

function Card({ channel }: { channel: Channel }) {
  const { id, name, type, enabled, all_workspaces: isForAll, config } = channel
  const path = `${CHANNELS}/${id}`
  const [isDeleting, setDeleting] = useState(false)
  const [isTesting, setTesting] = useState(false)
  const { tone, text } = stateOf(channel)
  const change = async (work: () => Promise<unknown>, done: string) => {
    await attempt(work, done)
    invalidate(CHANNELS)
  }
  const turn = async (isOn: boolean) => {
    await api(path, { method: "PATCH", body: { enabled: isOn } })
    invalidate(CHANNELS)
  }
  const test = async () => {
    setTesting(true)
    try {
      const { data } = await api<{ data: { ok: boolean; message: string } }>(`${path}/test`, { method: "POST" })
      toast(data.ok ? "good" : "bad", `Test alert: ${data.message}`)
    } catch (thrown) {
      toast("bad", ApiError.fromThrown(thrown).message)
    }
    setTesting(false)
  }
  const target =
    type === "email" ? [config["to"]].flat().join(", ") : type === "slack" ? "Slack" : String(config["url"])
  return (
    <section class="settings-card stack" aria-label={name}>
      <div class="row between">
        <h3>
          {name} <span class="quiet">{type}</span>
        </h3>
        <Status tone={tone}>{text}</Status>
      </div>
      <p class="quiet">
        {target} · {isForAll ? "all workspaces" : "one workspace"}
        {channel.last_error !== null && tone === "bad" ? ` · ${channel.last_error}` : ""}
      </p>
      <div class="row">
        <Button size="small" busy={isTesting} onClick={() => test()}>
          Send a test alert
        </Button>
        <Button
          size="small"
          onClick={() =>
            attemptToggle(!enabled, turn, (isOn) => `${name} ${isOn ? "receives alerts" : "receives no alerts"}`)
          }
        >
          {enabled ? "Turn off" : "Turn on"}
        </Button>
        <Button size="small" kind="danger" onClick={() => setDeleting(true)}>
          Delete
        </Button>
      </div>
      {isDeleting && (
        <ConfirmDialog
          title={`Delete ${name}?`}
          action="Delete"
          onConfirm={() => change(() => api(path, { method: "DELETE" }), `${name} is deleted`)}
          onClose={() => setDeleting(false)}
        >
          <p>Its queued alerts are dropped.</p>
        </ConfirmDialog>
      )}
    </section>
  )
}
