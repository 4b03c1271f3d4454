import { GatewayError } from "../errors/errors.ts"
import { isTooDeep } from "../support/depth.ts"

/**
 * Below the limit of responses: some contain parts of the request, which must not look like a failure of the provider.
 */
const MAX_DEPTH = 400

/** Throws 400 if a body is nested deeper than it can be translated. */
export function requireBodyDepth(body: object): void {
  if (!isTooDeep(body, MAX_DEPTH)) return
  throw new GatewayError("invalid_request", `The body is nested too deeply: at most ${MAX_DEPTH} levels are accepted.`)
}
