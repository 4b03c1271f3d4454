import { asGatewayError } from "../../errors/errors.ts"

/** RFC 7644, section 3.12. */
export const SCIM_TYPES = [
  "invalidFilter",
  "tooMany",
  "uniqueness",
  "mutability",
  "invalidSyntax",
  "invalidPath",
  "noTarget",
  "invalidValue",
] as const
export type ScimType = (typeof SCIM_TYPES)[number]

type Status = 400 | 401 | 403 | 404 | 405 | 409 | 412 | 413 | 415 | 501

/** An error in the format of SCIM. */
export class ScimError extends Error {
  override readonly name = "ScimError"
  readonly status: Status
  readonly scimType: ScimType | undefined

  constructor(status: Status, detail: string, scimType?: ScimType) {
    super(detail)
    this.status = status
    this.scimType = scimType
  }
}

export function invalid(scimType: ScimType, detail: string): ScimError {
  return new ScimError(400, detail, scimType)
}

export const ERROR_SCHEMA = "urn:ietf:params:scim:api:messages:2.0:Error"

/** The response to a failure: status, headers and body. */
export function toScimFailure(thrown: unknown) {
  const error = thrown instanceof ScimError ? thrown : asGatewayError(thrown)
  const scimType = error instanceof ScimError ? error.scimType : undefined
  const headers: Record<string, string> = error instanceof ScimError ? {} : (error.headers ?? {})
  const body = {
    schemas: [ERROR_SCHEMA],
    detail: error.message,
    status: String(error.status),
    ...(scimType && { scimType }),
  }
  return { status: error.status, headers, body, error }
}
