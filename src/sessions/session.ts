import type { Principal } from "../access/principal.ts"
import type { Env } from "../config/env.ts"
import { principalByHash } from "../policy/authenticate.ts"
import { masterKeysOf } from "../secrets/master-key.ts"
import { type ConsoleSession, cookieNameFor, openSession } from "./cookie.ts"
import { kindOfMember } from "./member-kind.ts"

export const CONSOLE_HEADER = "x-gateway-console"

/**
 * Whether the console's page sent this request. A page of another origin cannot: the header makes the browser send a
 * CORS preflight, and the browser itself sets `Sec-Fetch-Site` and `Origin`. Browsers send `Sec-Fetch-Site` only on
 * secure connections and to loopback addresses, so elsewhere `Origin` decides.
 */
export function isFromConsole({ headers, url }: Request): boolean {
  return headers.get(CONSOLE_HEADER) === "1" && isSameOrigin({ headers, url })
}

export function isSameOrigin({ headers, url }: Pick<Request, "headers" | "url">): boolean {
  const site = headers.get("sec-fetch-site")
  if (site !== null) return site === "same-origin"
  const origin = headers.get("origin")
  return origin !== null && URL.parse(origin)?.host === new URL(url).host
}

/** The session of a console request, if its cookie is valid. The key is not checked. */
export async function sessionOf(request: Request, env: Env, now: number): Promise<ConsoleSession | undefined> {
  if (!isFromConsole(request)) return undefined
  const value = cookieOf(request.headers.get("cookie") ?? "", cookieNameFor(request.url))
  return value === undefined ? undefined : openSession(value, masterKeysOf(env), now)
}

function cookieOf(header: string, name: string): string | undefined {
  const pairs = header.split(";").map((pair) => pair.trim())
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1)
}

/** The principal of a console request. */
export async function sessionPrincipal(request: Request, env: Env): Promise<Principal | undefined> {
  const now = Date.now()
  const session = await sessionOf(request, env, now)
  return session && principalOf(session, env, now)
}

/**
 * A session has at most the current rights of its key. A member's session ends with the membership or when the role
 * changes.
 */
export async function principalOf(
  { keyHash, userId }: ConsoleSession,
  env: Env,
  now: number,
): Promise<Principal | undefined> {
  const principal = await principalByHash(keyHash, env, now)
  if (!principal || userId === undefined) return principal
  const kind = await kindOfMember(env.DB, { organizationId: principal.organizationId, userId }, now)
  return principal.kind === kind && principal.creatorUserId === userId ? principal : undefined
}
