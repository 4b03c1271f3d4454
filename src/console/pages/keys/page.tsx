import "./keys.css"
import { useMemo, useState } from "preact/hooks"
import { withParams } from "../../api/client.ts"
import { useSearch } from "../../api/pages.ts"
import { useGet } from "../../api/query.ts"
import type { ApiKey, CurrentKey, Limit } from "../../api/types.ts"
import { count, exactUsd, usd } from "../../format/number.ts"
import { absolute, now } from "../../format/time.ts"
import { Page } from "../../shell/page.tsx"
import { useNames } from "../../state/names.ts"
import { query, setQuery } from "../../state/router.ts"
import { may, session, workspaceId } from "../../state/session.ts"
import { Button } from "../../ui/button.tsx"
import { Chip, hrefOf } from "../../ui/chip.tsx"
import { Check, Search } from "../../ui/field.tsx"
import { Ladder, Meter } from "../../ui/charts/meter.tsx"
import { Empty, Loaded, NoMatch } from "../../ui/states.tsx"
import { Status } from "../../ui/status.tsx"
import { type Column, Table } from "../../ui/table.tsx"
import { Money, Time } from "../../ui/values.tsx"
import { ConnectDialog } from "./connect-agent.tsx"
import { useDisabledReasons } from "./disabled.tsx"
import { NewKeyDialog } from "./key-form.tsx"
import { effectiveLimit, spentOf, stateOf } from "./state.ts"
import { USED_DAYS, useLastDays } from "./use-last-days.ts"

type Facts = {
  owners: ReadonlyMap<string, string>
  lastDays: ReadonlyMap<string, string> | undefined
  whyDisabled: (key: ApiKey) => string | null
}

const columnsOf = ({ owners, lastDays, whyDisabled }: Facts): readonly Column<ApiKey>[] => [
  {
    id: "name",
    label: "Name",
    width: "minmax(160px, 2fr)",
    narrow: "title",
    cell: ({ hash, name, kind }) => (
      <span class="row tight nowrap" dir="ltr">
        <a class="row-link truncate" dir="auto" href={hrefOf("key", hash)}>
          {name}
        </a>
        {kind !== "normal" && <span class="tag">{kind.replace("_", " ")}</span>}
      </span>
    ),
  },
  {
    id: "owner",
    label: "Owner",
    width: "minmax(90px, 1.2fr)",
    optional: 2,
    narrow: "hide",
    cell: (key) => <Owner apiKey={key} owners={owners} />,
  },
  {
    id: "state",
    label: "State",
    width: "minmax(110px, 1.4fr)",
    cell: (key) => {
      const { tone, text } = stateOf(key, now.value)
      const why = key.disabled ? whyDisabled(key) : null
      const state = why === null ? text : `${text} ${why}`
      return (
        <Status tone={tone} title={state}>
          {state}
        </Status>
      )
    },
  },
  {
    id: "limit",
    label: "Spent / limit",
    width: "minmax(172px, 2.4fr)",
    narrow: "hide",
    cell: (key) => <Spent apiKey={key} />,
  },
  {
    id: "month",
    label: "This month",
    width: "var(--money)",
    optional: 1,
    align: "right",
    narrow: "lead",
    cell: ({ usage_monthly }) => <Money value={usage_monthly} />,
  },
  {
    id: "used",
    label: "Last used",
    width: "88px",
    optional: 3,
    align: "right",
    narrow: "hide",
    cell: ({ hash }) => <LastUsed day={lastDays?.get(hash)} isKnown={lastDays !== undefined} />,
  },
]

/** The member a key belongs to, or the key that created it. */
function Owner({ apiKey, owners }: { apiKey: ApiKey; owners: ReadonlyMap<string, string> }) {
  const { creator_user_id: user, parent_hash: parent, external_user: external } = apiKey
  if (user !== null) return <Chip kind="member" id={user} label={owners.get(user) ?? user} />
  if (parent !== null) return <Chip kind="key" id={parent} label={owners.get(parent) ?? parent.slice(0, 10)} />
  if (external != null) return <Chip kind="end_user" id={external} />
  return <span class="faint">–</span>
}

const DAY_MS = 86_400_000

/** Usage is counted by day, in UTC. */
function LastUsed({ day, isKnown }: { day: string | undefined; isKnown: boolean }) {
  if (!isKnown) return null
  if (day === undefined) return <span class="faint">{`not in ${USED_DAYS} d`}</span>
  const days = Math.floor(now.value / DAY_MS) - Math.floor(Date.parse(day) / DAY_MS)
  return (
    <span title={`${day.slice(0, 10)} UTC`}>{days <= 0 ? "today" : days === 1 ? "yesterday" : `${days} d ago`}</span>
  )
}

const PERIODS: Record<string, string> = { daily: "day", weekly: "week", monthly: "month" }

function titleOf({ limit_reset: reset, limit_increase: increase }: ApiKey, spent: number, limit: number): string {
  const until =
    increase === null ? "" : `, ${exactUsd(increase.amount)} of it until ${absolute(Date.parse(increase.expires_at))}`
  return `${exactUsd(spent)} of ${exactUsd(limit)} ${reset ?? ""}${until}`
}

function Spent({ apiKey }: { apiKey: ApiKey }) {
  const limit = effectiveLimit(apiKey)
  if (limit === null) return <span class="faint">no limit</span>
  const spent = spentOf(apiKey)
  const isClose = spent >= limit * 0.8
  return (
    <span class="spent">
      <Meter
        value={spent}
        max={limit}
        label={`${usd(spent)} of ${usd(limit)}`}
        tone={spent >= limit ? "bad" : isClose ? "warn" : undefined}
      />
      <span class="truncate num" title={titleOf(apiKey, spent, limit)}>
        {usd(spent)} of {usd(limit)}
        {apiKey.limit_reset !== null && ` a ${PERIODS[apiKey.limit_reset] ?? apiKey.limit_reset}`}
      </span>
    </span>
  )
}

export default function KeysPage() {
  if (!may("keys:read")) return <CurrentKeyPage />
  return <KeyList />
}

const OWNERS = ["keys", "members"] as const

function KeyList() {
  const withDisabled = query.value.get("disabled") === "1"
  const text = query.value.get("q") ?? ""
  const path = withParams("/keys", { workspace_id: workspaceId.value, include_disabled: withDisabled ? "true" : null })
  const list = useSearch<ApiKey>(path, text)
  const owners = useNames(OWNERS)
  const lastDays = useLastDays()
  const whyDisabled = useDisabledReasons(withDisabled)
  const columns = useMemo(() => columnsOf({ owners, lastDays, whyDisabled }), [owners, lastDays, whyDisabled])
  const isNew = query.value.get("new") === "1"
  const close = () => setQuery({ new: null })
  return (
    <Page
      title="Keys"
      flush
      controls={
        <>
          <Search label="Filter keys" value={text} onChange={(q) => setQuery({ q })} />
          <Check
            label="Show disabled"
            checked={withDisabled}
            onChange={(isOn) => setQuery({ disabled: isOn ? "1" : null })}
          />
          {may("keys:write") && (
            <Button kind="primary" icon="plus" onClick={() => setQuery({ new: "1" })}>
              Create a key
            </Button>
          )}
        </>
      }
    >
      <div class="scroller">
        <Loaded query={list} shape="table">
          {({ data: rows, total_count: total = 0 }) => {
            if (rows.length === 0 && text !== "") return <NoMatch what="key" text={text} />
            if (rows.length === 0)
              return (
                <Empty title="No keys in this workspace">
                  <p>A key is what a client sends to make calls. Give each app or person a key with its own limit.</p>
                </Empty>
              )
            return (
              <>
                <Table
                  label="Keys"
                  columns={columns}
                  rows={rows}
                  rowKey={({ hash }) => hash}
                  href={({ hash }) => hrefOf("key", hash)}
                  onEnd={list.onEnd}
                />
                <p class="table-foot">
                  {list.all !== undefined && list.all !== total && `${count(total)} of `}
                  {count(list.all ?? total)} {list.all === 1 ? "key" : "keys"}
                </p>
              </>
            )
          }}
        </Loaded>
      </div>
      {isNew && <NewKeyDialog onClose={close} />}
    </Page>
  )
}

/** Page of a normal key: only that key. */
function CurrentKeyPage() {
  const limits = useGet<{ data: Limit[] }>("/key/limits")
  const key = useGet<{ data: CurrentKey }>("/key")
  const [isConnecting, setConnecting] = useState(false)
  const name = session.value?.key.name ?? "Key"
  const label = key.data?.data.label
  return (
    <Page
      title={name}
      controls={label !== undefined && <Button onClick={() => setConnecting(true)}>Connect an agent</Button>}
    >
      {label !== undefined && isConnecting && (
        <ConnectDialog name={name} label={label} onClose={() => setConnecting(false)} />
      )}
      <div class="read stack wide">
        <section class="stack tight">
          <h2>Limits</h2>
          <Loaded query={limits} lines={3}>
            {({ data }) => <Ladder limits={data} />}
          </Loaded>
        </section>
        <section class="stack tight">
          <h2>Spent</h2>
          <Loaded query={key} lines={2}>
            {({ data }) => (
              <dl class="facts">
                <dt>Today</dt>
                <dd>
                  <Money value={data.usage_daily} />
                </dd>
                <dt>This week</dt>
                <dd>
                  <Money value={data.usage_weekly} />
                </dd>
                <dt>This month</dt>
                <dd>
                  <Money value={data.usage_monthly} />
                </dd>
                <dt>Total</dt>
                <dd>
                  <Money value={data.usage} />
                </dd>
                <dt>Key</dt>
                <dd>
                  <code>{data.label}</code>
                </dd>
                <dt>Expires</dt>
                <dd>
                  <Time at={data.expires_at} />
                </dd>
              </dl>
            )}
          </Loaded>
          <p class="small quiet">
            Days, weeks and months begin at 00:00 UTC. Users with a management key change the limits.
          </p>
        </section>
      </div>
    </Page>
  )
}
