import { useMemo } from "preact/hooks"
import type { Preset } from "../api/account-types.ts"
import { useAll } from "../api/pages.ts"
import type { ApiKey, OrganizationMember, Workspace } from "../api/types.ts"
import { may } from "./session.ts"

type Named = "keys" | "workspaces" | "members" | "presets" | "interns"

/** Names by id, if the session may read them. */
export function useNames(wanted: readonly Named[]): ReadonlyMap<string, string> {
  const mayRead = (area: Named) => wanted.includes(area) && may(`${area}:read`)
  const keys = useAll<ApiKey>(mayRead("keys") ? "/keys?include_disabled=true" : null)
  const workspaces = useAll<Workspace>(mayRead("workspaces") ? "/workspaces" : null)
  const members = useAll<OrganizationMember>(mayRead("members") ? "/organization/members" : null)
  const presets = useAll<Preset>(mayRead("presets") ? "/presets" : null)
  const interns = useAll<{ id: string; name: string }>(mayRead("interns") ? "/interns" : null)
  return useMemo(() => {
    const named = [
      ...(keys.data?.data ?? []).map(({ hash, name }) => [hash, name] as const),
      ...(workspaces.data?.data ?? []).map(({ id, name }) => [id, name] as const),
      ...(interns.data?.data ?? []).map(({ id, name }) => [id, name] as const),
      ...(presets.data?.data ?? []).map(({ id, name }) => [id, name] as const),
      ...(members.data?.data ?? []).map((member) => [member.id, nameOfMember(member)] as const),
    ]
    return new Map(named)
  }, [keys.data, workspaces.data, members.data, presets.data, interns.data])
}

function nameOfMember({ first_name: first, last_name: last, email }: OrganizationMember): string {
  return [first, last].filter(Boolean).join(" ") || email || "Owner"
}
