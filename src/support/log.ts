/**
 * One JSON line an event. Callers pass fields they chose, never bodies, headers or keys; of an error only its name,
 * message and stack are kept, and the message is cut, since foreign errors can quote what they were given.
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

/** Drizzle's own error quotes the parameters of the query; the database's error, which it wraps, does not. */
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
