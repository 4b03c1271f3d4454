import type * as z from "zod"
import type { Invalid } from "../chat-request.ts"

/** The result of `read` for a valid body, otherwise the error. */
export function readAs<Schema extends z.ZodType, Read>(
  schema: Schema,
  body: unknown,
  read: (request: z.infer<Schema>) => Read,
): Read | Invalid {
  const parsed = schema.safeParse(body)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    return { message: issue?.message ?? "The body is not valid.", param: issue?.path.join(".") ?? null }
  }
  try {
    return read(parsed.data)
  } catch (thrown) {
    return { message: thrown instanceof Error ? thrown.message : "The body is not valid.", param: null }
  }
}
