import { withParams } from "../../api/client.ts"
import { useAll } from "../../api/pages.ts"
import type { Guardrail, KeyAssignment, MemberAssignment } from "../../api/account-types.ts"
import type { ApiKey } from "../../api/types.ts"
import { may } from "../../state/session.ts"
import { Chip } from "../../ui/chip.tsx"
import { Loaded } from "../../ui/states.tsx"

/** The guardrails that are assigned to a key or to its member. */
export function Guardrails({ apiKey }: { apiKey: ApiKey }) {
  const { hash, creator_user_id: user, workspace_id } = apiKey
  const mayRead = may("guardrails:read")
  const list = useAll<Guardrail>(mayRead ? withParams("/guardrails", { workspace_id }) : null)
  const keys = useAll<KeyAssignment>(mayRead ? "/guardrails/assignments/keys" : null)
  const members = useAll<MemberAssignment>(mayRead && user !== null ? "/guardrails/assignments/members" : null)
  if (!mayRead) return null
  const ofKey = new Set(keys.data?.data.filter((one) => one.key_hash === hash).map((one) => one.guardrail_id))
  const ofMember = new Set(members.data?.data.filter((one) => one.user_id === user).map((one) => one.guardrail_id))
  const isLoaded = keys.data !== undefined && (user === null || members.data !== undefined)
  return (
    <section class="stack tight" aria-label="Guardrails">
      <h2>Guardrails</h2>
      <Loaded
        query={isLoaded ? list : { ...list, data: undefined, error: list.error ?? keys.error ?? members.error }}
        lines={2}
      >
        {({ data }) => {
          const applied = data.filter(({ id }) => ofKey.has(id) || ofMember.has(id))
          if (applied.length === 0) return <p class="quiet">No guardrail is assigned to it.</p>
          return (
            <ul class="row">
              {applied.map(({ id, name }) => (
                <li key={id} class="row tight nowrap">
                  <Chip kind="guardrail" id={id} label={name} />
                  {!ofKey.has(id) && <span class="quiet small">through its member</span>}
                </li>
              ))}
            </ul>
          )
        }}
      </Loaded>
    </section>
  )
}
