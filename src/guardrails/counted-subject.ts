import * as z from "zod"
import { GatewayError } from "../errors/errors.ts"
import { endUserScope, metadataScope } from "../ledger/scopes.ts"
import { isPrintableLine } from "../support/text/printable.ts"

/**
 * The subject that a guardrail's limits count instead of each key and member. Requests name it: their end user, or the
 * value of a field of their `metadata`.
 */
export type CountedSubject = { kind: "end_user" } | { kind: "metadata"; field: string }

export const subjectInput = {
  per_end_user: z.boolean({ error: "must be true or false" }).nullish().meta({
    description:
      "true: limit_usd and the rate limits count each end user of the assigned keys and members, as `user` of the request names it; requests without `user` count together.",
  }),
  per_metadata: z
    .string({ error: "must be a string or null" })
    .min(1, "must not be empty")
    .max(64, "must be at most 64 characters")
    .refine(isPrintableLine, "must be one line without control characters")
    .nullish()
    .meta({
      description:
        "Name of a field of the request's `metadata`: limit_usd and the rate limits count each of its values, for the assigned keys and members together; requests without the field count together.",
    }),
}

type SubjectFields = { per_end_user?: boolean | null | undefined; per_metadata?: string | null | undefined }

export function countedSubjectOf({ per_end_user: perEndUser, per_metadata: field }: SubjectFields) {
  if (perEndUser === true) return { kind: "end_user" } satisfies CountedSubject
  return field == null ? null : ({ kind: "metadata", field } satisfies CountedSubject)
}

/** Throws if both fields are set. */
export function rejectTwoSubjects({ per_end_user: perEndUser, per_metadata: field }: SubjectFields): void {
  if (perEndUser !== true || field == null) return
  throw new GatewayError("invalid_request", "per_metadata: must be null if per_end_user is true.")
}

/** The scope of requests that do not name the subject. */
export function unnamedScope(guardrailId: string, { kind }: CountedSubject): string {
  return kind === "end_user" ? endUserScope(guardrailId, "") : metadataScope(guardrailId, "")
}
