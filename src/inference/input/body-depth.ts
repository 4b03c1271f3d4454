import { GatewayError } from "../../errors/errors.ts"
import { isTooDeep } from "../../support/text/depth.ts"

/**
 * Below the limit of responses: some contain parts of the request, which must not look like a failure of the provider.
 */
const MAX_DEPTH = 400

export const BODY_DEPTH_RULE = `is nested too deeply: at most ${MAX_DEPTH} levels are accepted.`

/** Whether a body, or an event of a session, is nested deeper than it can be translated. */
export function isBodyTooDeep(body: object): boolean {
  return isTooDeep(body, MAX_DEPTH)
}

/** Throws 400 if a body is nested deeper than it can be translated. */
export function requireBodyDepth(body: object): void {
  if (isBodyTooDeep(body)) throw new GatewayError("invalid_request", `The body ${BODY_DEPTH_RULE}`)
}
