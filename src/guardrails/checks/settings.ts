import * as z from "zod"
import { configOf } from "../../config/config.ts"
import type { Env } from "../../config/env.ts"
import { GatewayError } from "../../errors/errors.ts"
import { parseJson } from "../../support/text/json.ts"
import { type ContentChecks, ContentCheckShape } from "./check.ts"

const NAME = "CONTENT_CHECKS"

const cache = new WeakMap<Env, ContentChecks>()

/** The operator's checks by name. Throws if the configuration is invalid; the values of headers are not quoted. */
export function contentChecksOf(env: Env): ContentChecks {
  const cached = cache.get(env)
  if (cached) return cached
  const parsed = z.array(ContentCheckShape, { error: "must be a JSON array" }).safeParse(parseJson(configOf(env)[NAME]))
  if (!parsed.success) {
    const { path = [], message = "is not valid" } = parsed.error.issues[0] ?? {}
    const where = path.map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`)).join("")
    throw new GatewayError("misconfigured", `${NAME}${where}: ${message}.`)
  }
  const checks = new Map(parsed.data.map((check) => [check.name, check]))
  if (checks.size < parsed.data.length) throw new GatewayError("misconfigured", `${NAME}: two checks have one name.`)
  cache.set(env, checks)
  return checks
}
