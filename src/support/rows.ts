/**
 * Whether a write violated a unique constraint. Only the message of D1's error shows this; outside of a batch, Drizzle
 * wraps that error.
 */
export function isUniqueViolation(cause: unknown): cause is Error {
  if (!(cause instanceof Error)) return false
  return cause.message.includes("UNIQUE constraint failed") || isUniqueViolation(cause.cause)
}

/** A row of a page, or the row with the total count. */
export type Counted<Row> = Row & { total: number }

/** Results of a batch of two statements: the rows of a page and the total count. */
export function toPage<Row>([page, count]: readonly D1Result<Counted<Row>>[]): { rows: Row[]; total: number } {
  return { rows: page?.results ?? [], total: count?.results[0]?.total ?? 0 }
}

/** The same for two Drizzle queries. */
export function toCountedPage<Row>([rows, [counted]]: readonly [Row[], readonly { total: number }[]]): {
  rows: Row[]
  total: number
} {
  return { rows, total: counted?.total ?? 0 }
}
