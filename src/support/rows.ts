/** Whether a write was refused since another row has what must be one row's alone. D1 tells by its message only. */
export function isTaken(cause: unknown): cause is Error {
  return cause instanceof Error && cause.message.includes("UNIQUE constraint failed")
}

/** A row of a page, or the row of the statement that counts all there are. */
export type Counted<Row> = Row & { total: number }

/** What a batch of two statements found: the rows of a page, and how many rows there are in all. */
export function toPage<Row>([page, count]: readonly D1Result<Counted<Row>>[]): { rows: Row[]; total: number } {
  return { rows: page?.results ?? [], total: count?.results[0]?.total ?? 0 }
}
