import type { Principal } from "../access/principal.ts"
import type { Env } from "../config/env.ts"
import { nanoToUsd } from "../money/money.ts"
import { newId } from "../support/ids.ts"
import { mayControl, maySee, noControlError } from "./access/authority.ts"
import type { HomeFile } from "./embedded/home.ts"
import { toHomeFiles } from "./home-files.ts"
import type { InitialContent, InternIdentity } from "./hosts/rpc.ts"
import { findInternKeys } from "./access/key-store.ts"
import type { InternStatus } from "./kinds.ts"
import { openIntern } from "./lifecycle/open-intern.ts"
import { internError } from "./lifecycle/reasons.ts"
import type { Schedule } from "./schedule.ts"
import type { NewIntern } from "./schemas.ts"
import { findIntern } from "./store.ts"
import type { InternRow } from "./table.ts"

/** The principal that creates the intern. */
type Creator = { env: Env; principal: Principal }

const BEING_DELETED: readonly InternStatus[] = ["destroying", "destroy_failed"]

/** The intern to clone. 404 or 403 for a principal that does not control it. */
async function clonedIntern({ env, principal }: Creator, id: string): Promise<InternRow> {
  const row = await findIntern(env.DB, principal, id)
  if (!row || !maySee(principal, row))
    throw internError("not_found", "clone_of: no intern of this workspace has this id.")
  if (!mayControl(principal, row)) throw noControlError("created the intern to clone")
  if (!BEING_DELETED.includes(row.status)) return row
  throw internError("intern_rejected", `clone_of: the intern ${row.name} is being deleted.`)
}

/** The request with defaults from the intern that it clones. */
export async function withClonedFiles(creator: Creator, input: NewIntern): Promise<NewIntern> {
  if (input.clone_of === undefined) return input
  const { description, model, instructions, host, organizationId, keyHash } = await clonedIntern(
    creator,
    input.clone_of,
  )
  const [key] = await findInternKeys(creator.env.DB, organizationId, [keyHash])
  const terms = key && {
    limit: toUsd(key.limitNano),
    limit_reset: key.limitReset,
    daily_limit: toUsd(key.dailyLimitNano),
    mcp_tools: key.mcpTools,
  }
  const defined = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined))
  return { ...input, description, model, instructions, host, ...terms, ...defined }
}

const toUsd = (nano: number | null) => (nano === null ? null : nanoToUsd(nano))

/** Stores the initial files and schedules of an intern. Repeated until all are stored, and ignored afterwards. */
export async function storeInitialContent(creator: Creator, identity: InternIdentity, input: NewIntern): Promise<void> {
  if (input.clone_of === undefined && input.files === undefined) return
  const intern = openIntern(creator.env, identity.id)
  if (await intern.hasInitialContent()) return
  const addPart = async (part: Partial<InitialContent>) => {
    const fault = await intern.storeInitialContent(identity, { files: [], schedules: [], isLast: false, ...part })
    if (fault !== undefined) throw internError("intern_rejected", fault)
  }
  const files = toHomeFiles(input.files)
  if (input.clone_of === undefined) return addPart({ files, isLast: true })
  const source = openIntern(creator.env, (await clonedIntern(creator, input.clone_of)).id)
  const replaced = new Set(files.map(({ path }) => path))
  for (let after: string | null = ""; after !== null;) {
    const page: { files: HomeFile[]; next: string | null } = await source.homePage(after)
    await addPart({ files: page.files.filter(({ path }) => !replaced.has(path)) })
    after = page.next
  }
  const schedules: Schedule[] = await source.schedules()
  await addPart({ files, schedules: schedules.map((schedule) => fresh(schedule, Date.now())), isLast: true })
}

function fresh(schedule: Schedule, now: number): Schedule {
  return { ...schedule, id: newId(), nextAt: null, lastAt: null, lastSession: null, lastError: null, createdAt: now }
}
