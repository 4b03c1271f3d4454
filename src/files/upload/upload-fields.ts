import { GatewayError } from "../../errors/errors.ts"

/** Fields of an upload. `expiresAfterS`: seconds from its creation. */
export type UploadFields = { purpose?: string | null; expiresAfterS?: number | null }

const PURPOSE = /^[\w-]{1,64}$/
/** An hour and 30 days, in seconds: the limits of OpenAI's API. */
export const [MIN_EXPIRY_S, MAX_EXPIRY_S] = [3_600, 2_592_000] as const
export const EXPIRY_RULE = `must be a whole number from ${MIN_EXPIRY_S} to ${MAX_EXPIRY_S}`

/** The fields of an upload by clients of OpenAI's API. Throws 400 for an expiry that is not valid. */
export function readUploadFields(fields: ReadonlyMap<string, string>): UploadFields {
  const purpose = fields.get("purpose") ?? ""
  return { purpose: PURPOSE.test(purpose) ? purpose : null, expiresAfterS: readExpiry(fields) }
}

function readExpiry(fields: ReadonlyMap<string, string>): number | null {
  const [anchor, seconds] = ["anchor", "seconds"].map((name) => fields.get(`expires_after[${name}]`))
  if (anchor === undefined && seconds === undefined) return null
  if (anchor !== "created_at") throw new GatewayError("invalid_request", "expires_after[anchor]: accepts created_at.")
  const value = /^\d{1,8}$/.test(seconds ?? "") ? Number(seconds) : 0
  if (value >= MIN_EXPIRY_S && value <= MAX_EXPIRY_S) return value
  throw new GatewayError("invalid_request", `expires_after[seconds]: ${EXPIRY_RULE}.`)
}
