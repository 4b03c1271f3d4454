import { Hono, type MiddlewareHandler } from "hono"
import type { App } from "../access/app.ts"
import type { Env } from "../config/env.ts"
import { GatewayError } from "../errors/errors.ts"
import { BASE_PATH } from "../http/paths.ts"
import { newRequestId } from "../support/ids.ts"
import { inference } from "../inference/routes.ts"
import { principalByHash } from "../policy/authenticate.ts"
import { withRunContext } from "../policy/run-context.ts"
import { recordingRejections } from "./rejections.ts"

const keys = new WeakMap<Request, string>()

const identify: MiddlewareHandler<App> = async function identify(c, next) {
  c.set("requestId", newRequestId())
  await next()
  c.res.headers.set("x-request-id", c.var.requestId)
}

/** Inference routes for requests without a key, which the gateway itself sends for a stored one. */
const calls = new Hono<App>()
  .use(identify)
  .use(async function authenticateStored(c, next) {
    const hash = keys.get(c.req.raw)
    const principal = hash === undefined ? undefined : await principalByHash(hash, c.env, Date.now())
    if (!principal) throw new GatewayError("unauthenticated", "The API key of this request is no longer valid.")
    c.set("principal", await withRunContext(principal, c.env))
    await next()
  })
  .route(BASE_PATH, inference)
calls.onError(recordingRejections)

type StoredCall = { keyHash: string; request: Request; env: Env; executionCtx: ExecutionContext }

/**
 * An inference call of a stored key, through the same routes as the calls of clients. The key is looked up at this
 * time: a disabled, deleted or expired key fails with 401.
 */
export async function callWithKey({ keyHash, request, env, executionCtx }: StoredCall): Promise<Response> {
  keys.set(request, keyHash)
  return calls.fetch(request, env, executionCtx)
}
