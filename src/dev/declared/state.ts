import { readFileSync, renameSync, writeFileSync } from "node:fs"
import * as z from "zod"
import { explain } from "../../http/schema.ts"
import { parseJson } from "../../support/text/json.ts"
import { Failure } from "../failure.ts"
import { addressOf, fingerprintOf, type LiveResource, type Resource } from "./resource.ts"

const Recorded = z.strictObject({
  /** Names of the declared fields. */
  fields: z.array(z.string()),
  /** Hash of the field values that the gateway returned. */
  sha256: z.string(),
})
export type Recorded = z.infer<typeof Recorded>

const State = z.strictObject({
  version: z.literal(1),
  organization_id: z.string(),
  resources: z.record(z.string(), Recorded),
})
export type State = z.infer<typeof State>

/** Null if there is no state file. */
export function readState(file: string, organizationId: string): State | null {
  let text: string
  try {
    text = readFileSync(file, "utf8")
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null
    throw new Failure(`${file} cannot be read.`)
  }
  const parsed = State.safeParse(parseJson(text))
  if (!parsed.success) throw new Failure(`${file} is not a state file: ${explain(parsed.error)} Restore or delete it.`)
  if (parsed.data.organization_id === organizationId) return parsed.data
  throw new Failure(
    `${file} is the state of the organization ${parsed.data.organization_id}, and this key belongs to ${organizationId}. Use --state FILE for another one.`,
  )
}

/** Replaces the file atomically, so that a crash leaves the old or the new one. */
export function writeState(file: string, state: State): void {
  try {
    writeFileSync(`${file}.tmp`, `${JSON.stringify(state, null, 2)}\n`)
    renameSync(`${file}.tmp`, file)
  } catch {
    throw new Failure(`${file} cannot be written. The changes are applied; run apply again to record them.`)
  }
}

/** Fingerprints of applied resources; previous records for the others. */
export function recordsOf(
  declared: readonly Resource[],
  live: readonly LiveResource[],
  pending: ReadonlySet<string>,
  before: State | null,
): State["resources"] {
  const found = new Map(live.map((resource) => [addressOf(resource), resource]))
  const entries = declared.flatMap((resource): [string, Recorded][] => {
    const address = addressOf(resource)
    const liveResource = found.get(address)
    const record = before?.resources[address]
    if (!liveResource || pending.has(address)) return record ? [[address, record]] : []
    const fields = Object.keys(resource.fields).toSorted()
    return [[address, { fields, sha256: fingerprintOf(liveResource.fields, fields) }]]
  })
  return Object.fromEntries(entries)
}
