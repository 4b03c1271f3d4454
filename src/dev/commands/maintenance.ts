import { createWriteStream } from "node:fs"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import type { ReadableStream as NodeStream } from "node:stream/web"
import { Failure } from "../failure.ts"
import { type Command, input as withGiven, print, text } from "./command.ts"

type Rotation = { rewrapped: number; remaining: number; unreadable: number }

export const rotateMasterKey: Command = {
  name: "rotate-master-key",
  summary: `Wraps all data keys with the new master key. Before it:

  wrangler secret put MASTER_KEY_PREVIOUS   the key as it was
  wrangler secret put MASTER_KEY            the new one: openssl rand -base64 32

After it, delete MASTER_KEY_PREVIOUS. Needs BOOTSTRAP_MANAGEMENT_KEY.`,
  takes: [],
  options: {},
  async run(input) {
    const total = { rewrapped: 0, remaining: 0, unreadable: 0 }
    for (;;) {
      const { data } = await input.api.as<{ data: Rotation }>("operator", "POST", "/secrets/rotate", {})
      Object.assign(total, data, { rewrapped: total.rewrapped + data.rewrapped })
      if (data.remaining === 0 || data.rewrapped === 0) break
    }
    const { rewrapped, remaining, unreadable } = total
    const lost = unreadable > 0 ? ` ${unreadable} are wrapped by neither of the two keys and cannot be unwrapped.` : ""
    const note = remaining > 0 ? ` ${remaining} remain and cannot be unwrapped.` : ""
    print(input, total, `${rewrapped} data keys were wrapped with the current master key.${note}${lost}`)
    return remaining + unreadable > 0 ? 1 : 0
  },
}

export const exportCalls: Command = {
  name: "export",
  summary: "Exports the calls of a time range as CSV or JSON lines. Needs GATEWAY_MANAGEMENT_KEY.",
  takes: [],
  options: {
    from: { type: "string", description: "start of the range, an instant or a day, inclusive: 2026-11-01" },
    to: { type: "string", description: "end of the range, exclusive (default: now)" },
    format: { type: "string", description: "csv or ndjson (default: csv)" },
    workspace: { type: "string", description: "the id of one workspace (default: all of the organization)" },
    out: { type: "string", description: "the file to write (default: the standard output)" },
  },
  async run(input) {
    const from = toInstant(text(input, "from"), "--from")
    if (from === undefined) throw new Failure("--from is required: the start of the range.", 2)
    const body = withGiven({
      from,
      to: toInstant(text(input, "to"), "--to"),
      format: text(input, "format"),
      workspace_id: text(input, "workspace"),
    })
    const workspace = text(input, "workspace")
    const query = workspace === undefined ? "" : `?workspace_id=${encodeURIComponent(workspace)}`
    const created = await input.api.as<{ id: string; size_bytes: number }>("manager", "POST", "/exports", body)
    const bytes = Readable.fromWeb(
      (await input.api.bytes("manager", `/files/${created.id}/content${query}`)) as NodeStream,
    )
    const file = text(input, "out")
    if (file === undefined) return await pipeline(bytes, process.stdout, { end: false }).catch(ignoreClosedPipe)
    await pipeline(bytes, createWriteStream(file, { mode: 0o600 })).catch((cause: NodeJS.ErrnoException) => {
      throw new Failure(`${file} cannot be written: ${cause.code ?? cause.message}.`, 2)
    })
    print(input, created, `${file} has ${created.size_bytes} bytes.`)
  },
}

/** The reader may close the pipe early, as `head` does. */
function ignoreClosedPipe(cause: NodeJS.ErrnoException): void {
  if (cause.code !== "EPIPE") throw cause
}

/** A day means its start, in UTC. */
function toInstant(result: string | undefined, name: string): string | undefined {
  if (result === undefined) return undefined
  const at = Date.parse(result)
  if (Number.isNaN(at)) throw new Failure(`${name} must be a day or an instant: 2026-11-01, 2026-11-01T12:00:00Z.`, 2)
  return new Date(at).toISOString()
}

type Drift = { scope: string; window: string; charged_usd: number; recorded_usd: number; repaired: boolean }
type Reconciliation = { organization_id: string; restored_generations: number; drifts: Drift[] }

export const reconcile: Command = {
  name: "reconcile",
  summary:
    "Compares the ledgers with their generations and repairs them. Exits with 1 if they differ.\nNeeds BOOTSTRAP_MANAGEMENT_KEY.",
  takes: [],
  options: {
    organization: {
      type: "string",
      description: "the id of one organization (default: the 50 with the oldest reconciliation)",
    },
    lower: { type: "boolean", description: "also lower counters above their generations; with --organization" },
  },
  async run(input) {
    const lower = input.values["lower"] === true ? true : undefined
    const body = withGiven({ organization_id: text(input, "organization"), lower })
    const { data } = await input.api.as<{ data: Reconciliation[] }>("operator", "POST", "/reconciliations", body)
    print(input, data, data.map(toText).join("\n") || "There is no organization yet.")
    return data.some(({ drifts }) => drifts.some(({ repaired }) => !repaired)) ? 1 : 0
  },
}

function toText({ organization_id: id, restored_generations: restored, drifts }: Reconciliation): string {
  return [
    `${id}: ${drifts.length === 0 ? "the ledger matches its generations" : "they differ"}`,
    ...(restored > 0 ? [`  ${restored} generations were restored`] : []),
    ...drifts.map(
      ({ scope, window, charged_usd: charged, recorded_usd: recorded, repaired }) =>
        `  ${scope} ${window}: charged ${charged}, recorded ${recorded} USD${repaired ? ", repaired" : ""}`,
    ),
  ].join("\n")
}
