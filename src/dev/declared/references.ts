import { listOf, objectsOf } from "../../support/text/json.ts"
import { Failure } from "../failure.ts"
import type { KeyNames } from "./live.ts"
import { addressOf, type Resource } from "./resource.ts"
import { type Declaration, sectionOf } from "./schema.ts"

/** Rejects names of keys that are neither in the file nor, if it declares no keys, in the gateway. */
export function rejectUnknownKeys({ resources, sections }: Declaration, known: KeyNames): void {
  const declared = new Set(resources.filter(({ kind }) => kind === "key").map(addressOf))
  for (const resource of resources) {
    const { workspace } = resource
    const declaresKeys = sections.has(sectionOf({ workspace, kind: "key" }))
    const names = keysIn(resource).filter((name) => !/^[0-9a-f]{64}$/.test(name))
    const missing = names.find((name) =>
      declaresKeys
        ? !declared.has(addressOf({ kind: "key", workspace, name }))
        : known.hashesOf(workspace, name).length !== 1,
    )
    if (missing === undefined) continue
    const where = declaresKeys ? `the file declares under workspaces.${workspace}.keys` : "exactly one key has"
    throw new Failure(`${addressOf(resource)}: ${missing} must be a name that ${where}.`)
  }
}

function keysIn({ kind, fields }: Resource): string[] {
  if (kind === "guardrail_keys") return listOf(fields["keys"]).map(String)
  return kind === "alias" ? objectsOf(fields["arms"]).flatMap((arm) => listOf(arm["keys"]).map(String)) : []
}
