/**
 * Writes one JSON line per event. Callers pass chosen fields, never bodies, headers or keys. Of an error, only the
 * name, message and stack are logged; the message is shortened, since errors of libraries can quote their input.
 */
export function logError(message: string, fields: Record<string, unknown>, cause?: unknown): void {
  console.error(
    JSON.stringify({ level: "error", message, ...fields, ...(cause !== undefined && { cause: describe(cause) }) }),
  )
}

export function logWarning(message: string, fields: Record<string, unknown>): void {
  console.warn(JSON.stringify({ level: "warning", message, ...fields }))
}

const MAX_MESSAGE_LENGTH = 500

/** Drizzle's error quotes the parameters of the query; the database's error, which it wraps, does not. */
const isFailedQuery = (cause: Error) => cause.message.startsWith("Failed query: ")

function describe(cause: unknown): unknown {
  if (cause instanceof Error && isFailedQuery(cause) && cause.cause !== undefined) return describe(cause.cause)
  if (!(cause instanceof Error)) return String(cause).slice(0, MAX_MESSAGE_LENGTH)
  return {
    name: cause.name,
    message: cause.message.slice(0, MAX_MESSAGE_LENGTH),
    stack: cause.stack?.split("\n").slice(0, 6),
  }
}
