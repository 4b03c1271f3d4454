import "./keys.css"
import { useState } from "preact/hooks"
import { api, withParams } from "../../api/client.ts"
import { useAll } from "../../api/pages.ts"
import { invalidate, useGet } from "../../api/query.ts"
import type { ApiKey, Limit } from "../../api/types.ts"
import { count, usd } from "../../format/number.ts"
import { absolute, now } from "../../format/time.ts"
import { useEscape } from "../../shell/keyboard.ts"
import { Page } from "../../shell/page.tsx"
import type { PageProps } from "../../state/paths.ts"
import { useNames } from "../../state/names.ts"
import { navigate } from "../../state/router.ts"
import { may } from "../../state/session.ts"
import { attempt, attemptToggle, toast } from "../../state/toasts.ts"
import { Button } from "../../ui/button.tsx"
import { Chip } from "../../ui/chip.tsx"
import { ConfirmDialog } from "../../ui/dialog.tsx"
import { InlineText } from "../../ui/text/inline-text.tsx"
import { Ladder } from "../../ui/charts/meter.tsx"
import { Loaded } from "../../ui/states.tsx"
import { Status } from "../../ui/status.tsx"
import { Time } from "../../ui/values.tsx"
import { ConnectDialog } from "./connect-agent.tsx"
import { DisabledBy } from "./disabled.tsx"
import { EditKeyDialog, NewKeyDialog } from "./key-form.tsx"
import { Guardrails } from "./guardrails.tsx"
import { HoldCheck } from "./hold.tsx"
import { LatestCalls } from "./latest-calls.tsx"
import { stateOf } from "./state.ts"

type OpenDialog = "connect" | "edit" | "delete" | "disable" | "rotate" | null

export default function KeyPage({ params }: PageProps) {
  const hash = params["hash"] ?? ""
  const key = useGet<{ data: ApiKey }>(`/keys/${hash}`)
  const [dialog, setDialog] = useState<OpenDialog>(null)
  useEscape(() => navigate("/keys"), [])
  const data = key.data?.data
  const canWrite = may("keys:write") && data !== undefined
  return (
    <Page
      title={data?.name ?? "Key"}
      crumb={<a href="/keys">Keys</a>}
      controls={
        canWrite && (
          <>
            {isForAgents(data) && <Button onClick={() => setDialog("connect")}>Connect an agent</Button>}
            <Button onClick={() => setDialog("edit")}>Edit</Button>
            <Button onClick={() => setDialog("rotate")}>Rotate</Button>
            <Button onClick={() => (data.disabled ? setDisabled(data, false) : setDialog("disable"))}>
              {data.disabled ? "Enable" : "Disable"}
            </Button>
            <Button kind="danger" onClick={() => setDialog("delete")}>
              Delete
            </Button>
          </>
        )
      }
    >
      <Loaded query={key}>
        {({ data: apiKey }) => (
          <div class="read stack wide">
            <Summary apiKey={apiKey} />
            <Limits apiKey={apiKey} />
            <HoldCheck apiKey={apiKey} />
            <Guardrails apiKey={apiKey} />
            <Children apiKey={apiKey} />
            <LatestCalls hash={apiKey.hash} />
            <KeyDialogs apiKey={apiKey} dialog={dialog} onClose={() => setDialog(null)} />
          </div>
        )}
      </Loaded>
    </Page>
  )
}

/** Kinds of keys that may call models and can be handed to an agent. */
function isForAgents({ kind, source, disabled }: ApiKey): boolean {
  return (kind === "normal" || kind === "free_tier") && source === "created" && !disabled
}

function setDisabled({ hash, name }: ApiKey, disabled: boolean): Promise<boolean> {
  const change = async (isDisabled: boolean) => {
    await api(`/keys/${hash}`, { method: "PATCH", body: { disabled: isDisabled } })
    invalidate("/keys")
  }
  return attemptToggle(disabled, change, (isDisabled) => `The key “${name}” is ${isDisabled ? "disabled" : "enabled"}.`)
}

async function rename({ hash, name: before }: ApiKey, name: string): Promise<void> {
  const change = async (to: string) => {
    await api(`/keys/${hash}`, { method: "PATCH", body: { name: to } })
    invalidate("/keys")
  }
  await change(name)
  const undo = () => void attempt(() => change(before), `The name is “${before}” again`)
  toast("good", `The key is called “${name}”`, { label: "Undo", run: undo })
}

const NAMED = ["keys", "members"] as const

function Summary({ apiKey }: { apiKey: ApiKey }) {
  const { tone, text } = stateOf(apiKey, now.value)
  const names = useNames(NAMED)
  return (
    <dl class="facts">
      <dt>State</dt>
      <dd>
        <span class="row tight">
          <Status tone={tone}>{text}</Status>
          {apiKey.disabled && <DisabledBy apiKey={apiKey} />}
        </span>
      </dd>
      <dt>Name</dt>
      <dd>
        <InlineText
          label="name"
          value={apiKey.name}
          isEditable={may("keys:write")}
          onSave={(name) => rename(apiKey, name)}
        />
      </dd>
      <dt>Key</dt>
      <dd>
        <code>{apiKey.label}</code>
      </dd>
      <dt>Kind</dt>
      <dd>{apiKey.kind.replace("_", " ")}</dd>
      <dt>Spent</dt>
      <dd class="num">
        {usd(apiKey.usage_daily)} today, {usd(apiKey.usage_weekly)} this week, {usd(apiKey.usage_monthly)} this month,{" "}
        {usd(apiKey.usage)} total
      </dd>
      {apiKey.limit_increase && (
        <>
          <dt>Raised</dt>
          <dd class="num">
            limit by {usd(apiKey.limit_increase.amount)} until {absolute(Date.parse(apiKey.limit_increase.expires_at))}
          </dd>
        </>
      )}
      {apiKey.creator_user_id !== null && (
        <>
          <dt>Owner</dt>
          <dd>
            <Chip
              kind="member"
              id={apiKey.creator_user_id}
              label={names.get(apiKey.creator_user_id) ?? apiKey.creator_user_id}
            />
          </dd>
        </>
      )}
      {apiKey.parent_hash !== null && (
        <>
          <dt>Created by</dt>
          <dd>
            <Chip
              kind="key"
              id={apiKey.parent_hash}
              label={names.get(apiKey.parent_hash) ?? `${apiKey.parent_hash.slice(0, 12)}…`}
            />
          </dd>
        </>
      )}
      <dt>Created</dt>
      <dd>
        <Time at={apiKey.created_at} />
      </dd>
      <dt>Expires</dt>
      <dd>
        <Time at={apiKey.expires_at} />
      </dd>
    </dl>
  )
}

function Limits({ apiKey }: { apiKey: ApiKey }) {
  const limits = useGet<{ data: Limit[] }>(`/keys/${apiKey.hash}/limits`)
  return (
    <section class="stack tight">
      <h2>Limits</h2>
      <Loaded query={limits} lines={3}>
        {({ data }) => <Ladder limits={data} />}
      </Loaded>
    </section>
  )
}

/** The keys that this key created. They are deleted with it. */
function useChildren({ hash, workspace_id }: ApiKey): readonly ApiKey[] | undefined {
  const list = useAll<ApiKey>(may("keys:read") ? withParams("/keys", { workspace_id, include_disabled: "true" }) : null)
  return list.data?.data.filter(({ parent_hash }) => parent_hash === hash)
}

function Children({ apiKey }: { apiKey: ApiKey }) {
  const children = useChildren(apiKey)
  if (!children || children.length === 0) return null
  return (
    <section class="stack tight">
      <h2>
        {count(children.length)} {children.length === 1 ? "key was" : "keys were"} created by it
      </h2>
      <ul class="stack tight">
        {children.map((child) => (
          <li key={child.hash} class="row">
            <Chip kind="key" id={child.hash} label={child.name} />
            <span class="tag">{child.source}</span>
            <Status tone={stateOf(child, now.value).tone}>{stateOf(child, now.value).text}</Status>
          </li>
        ))}
      </ul>
    </section>
  )
}

function KeyDialogs({ apiKey, dialog, onClose }: { apiKey: ApiKey; dialog: OpenDialog; onClose: () => void }) {
  const children = useChildren(apiKey)?.length
  const others =
    children === undefined
      ? " Keys of apps and interns that it created stop, too."
      : children === 0
        ? ""
        : ` ${count(children)} ${children === 1 ? "key" : "keys"} of apps and interns that it created stop, too.`
  if (dialog === "connect") return <ConnectDialog name={apiKey.name} label={apiKey.label} onClose={onClose} />
  if (dialog === "edit") return <EditKeyDialog apiKey={apiKey} onClose={onClose} />
  if (dialog === "rotate") return <RotateDialog apiKey={apiKey} onClose={onClose} />
  if (dialog === "disable")
    return (
      <ConfirmDialog
        title={`Disable “${apiKey.name}”?`}
        action="Disable the key"
        onClose={onClose}
        onConfirm={() => setDisabled(apiKey, true)}
      >
        <p>Calls with this key are refused within seconds.{others} You can enable it again.</p>
      </ConfirmDialog>
    )
  if (dialog === "delete")
    return (
      <ConfirmDialog
        title={`Delete “${apiKey.name}”?`}
        action="Delete the key"
        name={apiKey.name}
        onClose={onClose}
        onConfirm={async () => {
          const remove = async () => {
            await api(`/keys/${apiKey.hash}`, { method: "DELETE" })
            invalidate("/keys?")
          }
          if (await attempt(remove, `The key “${apiKey.name}” is deleted.`)) navigate("/keys")
        }}
      >
        <p>Calls with this key are refused from now on.{others} Its calls stay in the list. This cannot be undone.</p>
      </ConfirmDialog>
    )
  return null
}

/** Creates the new key first, so that clients can change over; the old one is disabled afterwards. */
function RotateDialog({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const [step, setStep] = useState<"explain" | "create" | "disable">("explain")
  if (step === "create")
    return <NewKeyDialog template={apiKey} onClose={(isCreated) => (isCreated ? setStep("disable") : onClose())} />
  const isLast = step === "disable"
  return (
    <ConfirmDialog
      title={isLast ? `Disable the old “${apiKey.name}” now?` : `Rotate “${apiKey.name}”`}
      action={isLast ? "Disable the old key" : "Create the new key"}
      isHarmless={!isLast}
      onClose={() => isLast && onClose()}
      onCancel={onClose}
      onConfirm={() => (isLast ? setDisabled(apiKey, true) : setStep("create"))}
    >
      {isLast ? (
        <p>
          Calls with the old key are refused within seconds. Cancel to keep both until your clients use the new one.
        </p>
      ) : (
        <p>
          A new key with the same name and limit is created first. Then you disable the old one, when your clients have
          the new one.
        </p>
      )}
    </ConfirmDialog>
  )
}
