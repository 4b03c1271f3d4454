import { useState } from "preact/hooks"
import { api, withParams } from "../../api/client.ts"
import { useAll } from "../../api/pages.ts"
import { invalidate, useGet } from "../../api/query.ts"
import type { KeyAssignment, MemberAssignment } from "../../api/account-types.ts"
import type { ApiKey, List } from "../../api/types.ts"
import { plural } from "../../format/number.ts"
import { workspaceId } from "../../state/session.ts"
import { attemptToggle } from "../../state/toasts.ts"
import { Button } from "../../ui/button.tsx"
import { Chip } from "../../ui/chip.tsx"
import { Select } from "../../ui/field.tsx"
import { Loaded } from "../../ui/states.tsx"

/** Keys and members that a guardrail applies to. */
export function Applies({ id, mayWrite }: { id: string; mayWrite: boolean }) {
  const base = `/guardrails/${id}/assignments`
  const assigned = useAll<KeyAssignment>(`${base}/keys`)
  const members = useAll<MemberAssignment>(`${base}/members`)
  const assign = (hash: string, name: string, isAssigned: boolean) => {
    const change = async (isOn: boolean) => {
      await api(`${base}/keys${isOn ? "" : "/remove"}`, { method: "POST", body: { key_hashes: [hash] } })
      invalidate(base)
    }
    return attemptToggle(isAssigned, change, (isOn) => `${isOn ? "Applies to" : "Removed from"} ${name}`)
  }
  return (
    <section class="stack" aria-label="Applies to">
      <h2>Applies to</h2>
      <Loaded query={assigned} lines={2}>
        {({ data }) => (
          <>
            {data.length === 0 && (members.data?.data.length ?? 0) === 0 && (
              <p class="quiet">No key and no member yet: it has no effect.</p>
            )}
            <ul class="row">
              {data.map(({ key_hash: hash, key_name: name }) => (
                <li key={hash} class="row tight nowrap">
                  <Chip kind="key" id={hash} label={name} />
                  {mayWrite && (
                    <Button
                      size="small"
                      kind="quiet"
                      icon="close"
                      label={`Remove it from ${name}`}
                      onClick={() => assign(hash, name, false)}
                    />
                  )}
                </li>
              ))}
              {(members.data?.data ?? []).map(({ user_id: user }) => (
                <li key={user}>
                  <Chip kind="member" id={user} />
                </li>
              ))}
            </ul>
            {mayWrite && (
              <Assign
                taken={new Set(data.map(({ key_hash: hash }) => hash))}
                onAssign={(hash, name) => void assign(hash, name, true)}
              />
            )}
          </>
        )}
      </Loaded>
    </section>
  )
}

function Assign({ taken, onAssign }: { taken: ReadonlySet<string>; onAssign: (hash: string, name: string) => void }) {
  const [chosen, setChosen] = useState("")
  const keys = useAll<ApiKey>(withParams("/keys", { workspace_id: workspaceId.value }))
  const free = (keys.data?.data ?? []).filter(({ hash }) => !taken.has(hash))
  const options = [
    { value: "", label: "Choose a key" },
    ...free.map(({ hash, name }) => ({ value: hash, label: name })),
  ]
  const name = free.find(({ hash }) => hash === chosen)?.name
  return (
    <div class="row fields">
      <Select label="Apply to a key" options={options} value={chosen} onChange={setChosen} />
      <Button
        disabled={name === undefined}
        onClick={() => {
          onAssign(chosen, name ?? "")
          setChosen("")
        }}
      >
        Apply
      </Button>
    </div>
  )
}

/** Number of keys and members it applies to, as text. */
export function Assigned({ id }: { id: string }) {
  const base = `/guardrails/${id}/assignments`
  const keys = useGet<List<KeyAssignment>>(`${base}/keys?limit=1`)
  const members = useGet<List<MemberAssignment>>(`${base}/members?limit=1`)
  if (!keys.data || !members.data) return <>the keys and members that have it</>
  return (
    <>
      {plural(keys.data.total_count ?? 0, "key")} and {plural(members.data.total_count ?? 0, "member")}
    </>
  )
}
