import type { Context } from "hono"
import { guard } from "../../access/guards.ts"
import { principalByHash } from "../../policy/authenticate.ts"
import { isConfined, type Principal } from "../../access/principal.ts"
import type { Env } from "../../config/env.ts"
import type { App } from "../../access/app.ts"
import { internError } from "../lifecycle/reasons.ts"
import { findIntern } from "../store.ts"
import { maySee } from "./authority.ts"
import type { InternRow } from "../table.ts"

export const NO_SUCH_INTERN = "There is no intern with this id that this key can see."

function noSuchRoute({ req }: Context<App>): never {
  throw internError("not_found", `There is no ${req.method} ${req.path}.`)
}

/** Intern and vault routes return 404 outside the program. Runs after authentication. */
export const requireInternsAccess = guard(({ hasInternsAccess }) => hasInternsAccess, noSuchRoute)

/** Routes that an intern's key cannot use: the list of interns, and the vault of the workspace. */
export const rejectInternKey = guard(({ internId }) => internId === null, noSuchRoute)

/** Routes of the workspace's vault, which keys of interns, apps and the free tier cannot use. */
export const requireVaultAccess = guard((principal) => !isConfined(principal), noSuchRoute)

/**
 * The requested intern, in the workspace of the key. An intern's own key sees only its intern, a key of an app or the
 * free tier only those that it created. Otherwise 404.
 */
export async function visibleIntern(c: Context<App>, id: string): Promise<InternRow> {
  const { principal } = c.var
  const row = await findIntern(c.env.DB, principal, id)
  if (!row || !maySee(principal, row)) throw internError("not_found", NO_SUCH_INTERN)
  return row
}

/**
 * The requested intern if its key works. Interns stop with the key that created them; another key can provision them
 * again.
 */
export async function workingIntern(c: Context<App>, id: string): Promise<InternRow> {
  const row = await visibleIntern(c, id)
  await requireWorkingKey(c.env, row)
  return row
}

export async function requireWorkingKey(env: Env, row: InternRow): Promise<void> {
  if (!(await keyOf(env, row))) throw noWorkingKey()
}

/** For work that no request of a client starts: also checks that the organization may have interns. */
export async function requireActive(env: Env, row: InternRow): Promise<void> {
  const key = await keyOf(env, row)
  if (!key) throw noWorkingKey()
  if (!key.hasInternsAccess) throw internError("forbidden", "Interns are disabled for this organization.")
}

export async function hasWorkingKey(env: Env, row: InternRow): Promise<boolean> {
  return (await keyOf(env, row)) !== undefined
}

function keyOf(env: Env, { keyHash }: InternRow): Promise<Principal | undefined> {
  return principalByHash(keyHash, env, Date.now())
}

function noWorkingKey() {
  return internError(
    "forbidden",
    "The key that created this intern, or the intern's own key, no longer works. Provision the intern with a key of the same user or a management key.",
  )
}
