import { Hono, type MiddlewareHandler } from "hono"
import type { App } from "../access/app.ts"
import type { Env } from "../config/env.ts"
import { GatewayError } from "../errors/errors.ts"
import { BASE_PATH } from "../http/paths.ts"
import { ExpiringMap } from "../support/time/expiring-map.ts"
import { newRequestId } from "../support/ids.ts"
import { inference } from "../inference/routes.ts"
import type { Principal } from "../access/principal.ts"
import { principalByHash } from "../policy/authenticate.ts"
import { loadAccess } from "../policy/store.ts"
import { withRunContext } from "../policy/run-context.ts"
import { recordingRejections } from "./rejections.ts"

/** `hasRun`: a provider has served the call, so it is charged also if its key was revoked meanwhile. */
type KeyOfCall = { hash: string; hasRun: boolean }

const keys = new WeakMap<Request, KeyOfCall>()

const REVOKED_CACHE_MS = 5_000
/** Keys that were revoked after their calls were submitted. A batch has up to 50,000 calls. */
const revoked = new ExpiringMap<string, Principal>(100)

async function principalOf({ hash, hasRun }: KeyOfCall, env: Env): Promise<Principal | undefined> {
  const now = Date.now()
  const known = hasRun ? revoked.get(hash, now)?.value : undefined
  const principal = known ?? (await principalByHash(hash, env, now))
  if (principal || !hasRun) return principal
  const former = await loadAccess(env.DB, hash, { includesRevoked: true, includesDeleted: true })
  if (former) revoked.set(hash, former, now + REVOKED_CACHE_MS)
  return former
}

const identify: MiddlewareHandler<App> = async function identify(c, next) {
  c.set("requestId", newRequestId())
  await next()
  c.res.headers.set("x-request-id", c.var.requestId)
}

/** Inference routes for requests without a key, which the gateway itself sends for a stored one. */
const calls = new Hono<App>()
  .use(identify)
  .use(async function authenticateStored(c, next) {
    const key = keys.get(c.req.raw)
    const principal = key && (await principalOf(key, c.env))
    if (!principal) throw new GatewayError("unauthenticated", "The API key of this request is no longer valid.")
    c.set("principal", await withRunContext(principal, c.env))
    await next()
  })
  .route(BASE_PATH, inference)
calls.onError(recordingRejections)

type StoredCall = { key: KeyOfCall; request: Request; env: Env; executionCtx: ExecutionContext }

/**
 * An inference call of a stored key, through the same routes as the calls of clients. The key is looked up at this
 * time: a disabled, deleted or expired key fails with 401, unless a provider has served the call already.
 */
export async function callWithKey({ key, request, env, executionCtx }: StoredCall): Promise<Response> {
  keys.set(request, key)
  return calls.fetch(request, env, executionCtx)
}
