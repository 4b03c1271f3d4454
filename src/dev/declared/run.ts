import { readFileSync } from "node:fs"
import { Failure } from "../failure.ts"
import { printable } from "../../support/text/printable.ts"
import { type CommandInput, print, text } from "../commands/command.ts"
import { applyChanges } from "./apply.ts"
import { KeysOut } from "./keys-out.ts"
import { type Live, readLive } from "./live.ts"
import { type Plan, planChanges } from "./plan.ts"
import { rejectUnknownKeys } from "./references.ts"
import { type Declaration, readDeclaration } from "./schema.ts"
import { readState, recordsOf, type State, writeState } from "./state.ts"
import { describeOutcome, describePlan, toJson } from "./text.ts"

const CHANGES = 2

/** `gateway plan`. Returns the exit code. */
export async function runPlan(input: CommandInput): Promise<number> {
  const prepared = await prepare(input)
  print(input, toJson(prepared.plan), printable([...prepared.notes, describePlan(prepared.plan)].join("\n")))
  return prepared.plan.changes.length > 0 ? CHANGES : 0
}

/** `gateway apply`. Returns the exit code. */
export async function runApply(input: CommandInput): Promise<number> {
  const prepared = await prepare(input)
  const { declaration, live, stateFile, state, organizationId } = prepared
  const { changes } = prepared.plan
  const summary = printable([...prepared.notes, describePlan(prepared.plan)].join("\n"))
  requireApplicable(input, prepared.plan, summary)
  const file = text(input, "keys-out")
  const keysOut = file !== undefined && createsKeys(prepared.plan) ? new KeysOut(file) : null
  const outcome = await applyChanges(input.api, live, changes, keysOut).finally(() => keysOut?.close())
  const unapplied = [...(outcome.failed ? [outcome.failed.change] : []), ...outcome.pending]
  const pending = new Set(unapplied.map(({ address }) => address))
  const { failed } = outcome
  const result = {
    ...toJson(prepared.plan),
    applied: outcome.done.map(({ address }) => address),
    failed: failed && { address: failed.change.address, message: failed.message },
    pending: outcome.pending.map(({ address }) => address),
  }
  print(input, result, [summary, printable(describeOutcome(outcome))].filter((part) => part !== "").join("\n"))
  await record({ declaration, stateFile, state, organizationId }, input, pending)
  return failed ? 1 : 0
}

type Prepared = {
  declaration: Declaration
  live: Live
  plan: Plan
  stateFile: string
  state: State | null
  organizationId: string
  notes: string[]
}

async function prepare(input: CommandInput): Promise<Prepared> {
  const { api, positionals, values } = input
  const [file = ""] = positionals
  const declaration = readDeclaration(read(file), file)
  const { data: key } = await api.as<{ data: { organization_id: string | null } }>("manager", "GET", "/key")
  const organizationId = key.organization_id
  if (organizationId === null) throw new Failure("Set GATEWAY_MANAGEMENT_KEY: this key belongs to no organization.")
  const stateFile = text(input, "state") ?? `${file}.state.json`
  const state = readState(stateFile, organizationId)
  const live = await readLive(api, declaration)
  rejectUnknownKeys(declaration, live.keys)
  const recorded = state?.resources ?? null
  const prune = values["prune"] === true
  const result = planChanges({ declaration, live: live.resources, recorded, prune })
  const notes = state ? [] : [`There is no state file ${stateFile}: drift is not checked.`]
  return { declaration, live, plan: result, stateFile, state, organizationId, notes }
}

/** Called before anything is changed. */
function requireApplicable(input: CommandInput, planned: Plan, summary: string): void {
  const drifted = planned.changes.filter(({ drift }) => drift).map(({ address }) => address)
  if (drifted.length > 0 && input.values["force"] !== true) {
    throw new Failure(
      `${summary}\nNothing was changed: ${drifted.join(", ")} changed since the last apply. Put the change into the file, or add --force to undo it.`,
    )
  }
  if (createsKeys(planned) && text(input, "keys-out") === undefined) {
    throw new Failure(`${summary}\nNothing was changed: new keys need --keys-out FILE for their secrets.`)
  }
}

function createsKeys({ changes }: Plan): boolean {
  return changes.some(({ kind, action }) => kind === "key" && action === "create")
}

/** Records fingerprints of the resources as the gateway returns them now. */
async function record(
  { declaration, stateFile, state, organizationId }: Omit<Prepared, "live" | "plan" | "notes">,
  { api }: CommandInput,
  pending: ReadonlySet<string>,
): Promise<void> {
  const { resources } = await readLive(api, declaration)
  const records = recordsOf(declaration.resources, resources, pending, state)
  writeState(stateFile, { version: 1, organization_id: organizationId, resources: records })
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8")
  } catch {
    throw new Failure(`${file} cannot be read.`)
  }
}
