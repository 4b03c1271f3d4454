import { runDurableObjectAlarm } from "cloudflare:test"
import { ACCOUNT, type Limit } from "../../src/ledger/limits.ts"
import { type Generation, unsettledGeneration } from "../../src/ledger/generation.ts"
import { newTestDraft } from "../support/draft.ts"
import { expectJson, type Workspace } from "../support/world.ts"

export type Listed = {
  id: string
  kind: string
  workspace_id: string | null
  message: string
  data: Record<string, unknown>
  deliveries: { channel_id: string; state: string; attempts: number; last_error: string | null }[]
}
export type Channel = { id: string; config: Record<string, unknown>; last_error: string | null } & Record<
  string,
  unknown
>

/** A call of this key that costs `nano` under these limits. False if it is rejected. */
export async function spend(
  workspace: Workspace,
  nano: number,
  limits: Limit[],
  more: { keyHash?: string; attempts?: Generation["attempts"] } = {},
): Promise<boolean> {
  const { organizationId, workspaceId } = workspace
  const keyHash = more.keyHash ?? "a".repeat(64)
  const draft = newTestDraft({ id: `gen-${crypto.randomUUID()}`, organizationId, workspaceId, keyHash })
  const verdict = await workspace.ledger.hold({
    draft,
    wanted: { leastNano: nano, mostNano: nano },
    chargesAccount: true,
    limits: limits.filter(({ scope }) => scope !== ACCOUNT),
    estimateNano: 0,
    ttlMs: 60_000,
  })
  if (!verdict.ok) return false
  const attempts = more.attempts ?? []
  await workspace.ledger.settle({ ...unsettledGeneration(draft, nano), ending: "complete", limits, attempts })
  return true
}

/** Records the alerts of the ledger and queues their deliveries. */
export async function record(workspace: Workspace): Promise<void> {
  await runDurableObjectAlarm(workspace.object)
}

export async function alertsOf(workspace: Workspace, query = ""): Promise<Listed[]> {
  return (await expectJson<{ data: Listed[] }>(200, workspace.manage.get(`/alerts${query}`))).data
}

export async function addChannel(workspace: Workspace, input: Record<string, unknown>): Promise<Channel> {
  const body = { name: "Ours", ...input }
  return (await expectJson<{ data: Channel }>(201, workspace.manage.post("/alerts/channels", body))).data
}
