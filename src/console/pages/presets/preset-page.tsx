import "./presets.css"
import { useState } from "preact/hooks"
import { api, withParams } from "../../api/client.ts"
import { useAll } from "../../api/pages.ts"
import { invalidate, useGet } from "../../api/query.ts"
import type { PresetVersion, PresetWithVersion } from "../../api/account-types.ts"
import type { CallPage } from "../../api/types.ts"
import { count, plural } from "../../format/number.ts"
import { useEscape } from "../../shell/keyboard.ts"
import { Page } from "../../shell/page.tsx"
import type { PageProps } from "../../state/paths.ts"
import { navigate, query, setQuery, withQuery } from "../../state/router.ts"
import { may } from "../../state/session.ts"
import { attempt, attemptToggle, type Toast } from "../../state/toasts.ts"
import { Button } from "../../ui/button.tsx"
import { Code } from "../../ui/text/code.tsx"
import { Select } from "../../ui/field.tsx"
import { Loaded } from "../../ui/states.tsx"
import { Status } from "../../ui/status.tsx"
import { Time } from "../../ui/values.tsx"
import { diffLines, linesOf } from "./diff.ts"
import { presetQuery } from "./page.tsx"
import { VersionDialog } from "./version-dialog.tsx"

export default function PresetPage({ params }: PageProps) {
  const slug = params["slug"] ?? ""
  const base = `/presets/${encodeURIComponent(slug)}`
  const preset = useGet<{ data: PresetWithVersion }>(withParams(base, presetQuery()))
  const versions = useAll<PresetVersion>(withParams(`${base}/versions`, presetQuery()))
  const [isMaking, setMaking] = useState(false)
  useEscape(() => navigate("/presets"), [])
  const current = preset.data?.data
  const list = (versions.data?.data ?? []).toSorted((a, b) => b.version - a.version)
  const patch = async (body: Record<string, unknown>) => {
    await api(withParams(base, presetQuery()), { method: "PATCH", body })
    invalidate("/presets")
  }
  const designate = (version: number, former: number | undefined) => {
    const use = (chosen: number, undo?: Toast["action"]) =>
      void attempt(() => patch({ designated_version: chosen }), `Version ${chosen} is in use`, undo)
    use(version, former === undefined ? undefined : { label: "Undo", run: () => use(former) })
  }
  const isActive = current?.status === "active"
  return (
    <Page
      title={current?.name ?? slug}
      crumb={<a href="/presets">Presets</a>}
      controls={
        current &&
        may("presets:write") && (
          <>
            <Button
              onClick={() =>
                attemptToggle(
                  !isActive,
                  (isOn) => patch({ status: isOn ? "active" : "disabled" }),
                  (isOn) => (isOn ? "It is in use" : "Calls with it are refused now"),
                )
              }
            >
              {isActive ? "Disable" : "Enable"}
            </Button>
            <Button kind="primary" icon="plus" onClick={() => setMaking(true)}>
              New version
            </Button>
          </>
        )
      }
    >
      <Loaded query={preset}>
        {({ data }) => (
          <div class="preset">
            <div class="stack">
              <dl class="facts">
                <dt>In a call</dt>
                <dd>
                  <code>@preset/{data.slug}</code>
                </dd>
                <dt>State</dt>
                <dd>
                  <Status tone={data.status === "active" ? "good" : "off"}>{data.status}</Status>
                </dd>
                <dt>Used by</dt>
                <dd>
                  <UsedToday id={data.id} />
                </dd>
                <dt>Description</dt>
                <dd>{data.description ?? <span class="faint">–</span>}</dd>
              </dl>
              <h2>Versions</h2>
              <Loaded query={versions} lines={3}>
                {() => <Timeline versions={list} inUse={data.designated_version?.version ?? null} />}
              </Loaded>
            </div>
            {list.length > 0 && (
              <Compare
                versions={list}
                inUse={data.designated_version?.version ?? null}
                onDesignate={(version) => designate(version, data.designated_version?.version)}
              />
            )}
          </div>
        )}
      </Loaded>
      {isMaking && (
        <VersionDialog slug={slug} from={current?.designated_version ?? null} onClose={() => setMaking(false)} />
      )}
    </Page>
  )
}

const DAY_MS = 86_400_000
const MAX_COUNTED = 200

/** Calls since midnight, UTC, that named the preset. */
function UsedToday({ id }: { id: string }) {
  const midnight = new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS).toISOString()
  const calls = useGet<CallPage>(withParams("/calls", { preset: id, from: midnight, limit: MAX_COUNTED }))
  if (!calls.data) return <span class="faint">{calls.error ? "not known" : "…"}</span>
  const { data, has_more: hasMore } = calls.data
  if (data.length === 0) return <a href={`/calls?preset=${id}&range=30d`}>no calls today</a>
  return (
    <a
      href={withParams("/calls", {
        preset: id,
        from: midnight,
        to: new Date(Date.parse(midnight) + DAY_MS).toISOString(),
      })}
    >
      {hasMore ? `${count(MAX_COUNTED)} or more calls` : plural(data.length, "call")} today
    </a>
  )
}

function Timeline({ versions, inUse }: { versions: readonly PresetVersion[]; inUse: number | null }) {
  const shown = shownVersion(versions, inUse)
  return (
    <nav class="timeline" aria-label="Versions">
      {versions.map(({ version, config, created_at: at }) => (
        <a
          key={version}
          href={withQuery({ version: String(version) })}
          aria-current={version === shown ? "true" : undefined}
        >
          <span class="row between">
            <strong>Version {version}</strong>
            {version === inUse && <Status tone="good">in use</Status>}
          </span>
          <span class="quiet small truncate">
            {typeof config["model"] === "string" ? config["model"] : "no model"} · <Time at={at} />
          </span>
        </a>
      ))}
    </nav>
  )
}

function shownVersion(versions: readonly PresetVersion[], inUse: number | null): number | undefined {
  const chosen = Number(query.value.get("version"))
  return versions.some(({ version }) => version === chosen) ? chosen : (inUse ?? versions[0]?.version)
}

type CompareProps = {
  versions: readonly PresetVersion[]
  inUse: number | null
  onDesignate: (version: number) => void
}

/** One version compared with another. */
function Compare({ versions, inUse, onDesignate }: CompareProps) {
  const shown = versions.find(({ version }) => version === shownVersion(versions, inUse))
  if (!shown) return null
  const chosen = Number(query.value.get("against"))
  const earlier = versions.find(({ version }) => version < shown.version)
  const against = versions.find(({ version }) => version === chosen && version !== shown.version) ?? earlier
  const others = versions.filter(({ version }) => version !== shown.version)
  return (
    <section class="stack compare" aria-label={`Version ${shown.version}`}>
      <div class="row between">
        <h2>Version {shown.version}</h2>
        {shown.version !== inUse && may("presets:write") && (
          <Button onClick={() => onDesignate(shown.version)}>Use version {shown.version}</Button>
        )}
      </div>
      {against ? (
        <>
          <Select
            label="Compared with"
            options={others.map(({ version }) => ({ value: String(version), label: `Version ${version}` }))}
            value={String(against.version)}
            onChange={(value) => setQuery({ against: value })}
          />
          <Diff before={against} after={shown} />
        </>
      ) : (
        <Code label={`Version ${shown.version}`} text={linesOf(shown).join("\n")} wrap />
      )}
    </section>
  )
}

const SIGNS = { added: "+ ", removed: "− ", same: "  " }

function Diff({ before, after }: { before: PresetVersion; after: PresetVersion }) {
  const lines = diffLines(linesOf(before), linesOf(after))
  const isSame = lines.every(({ kind }) => kind === "same")
  return (
    <>
      {isSame && <p class="quiet">Both versions are the same.</p>}
      <div
        class="diff"
        role="region"
        aria-label={`Changes from version ${before.version} to ${after.version}`}
        tabIndex={0}
      >
        {lines.map(({ kind, text }, at) => (
          <div key={at} class={kind}>
            <span class="visually-hidden">{kind === "same" ? "" : `${kind}: `}</span>
            <span aria-hidden="true">{SIGNS[kind]}</span>
            {text}
          </div>
        ))}
      </div>
    </>
  )
}
