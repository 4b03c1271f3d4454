/** A row of a page, or the row of the statement that counts all there are. */
export type Counted<Row> = Row & { total: number }

/** What a batch of two statements found: the rows of a page, and how many rows there are in all. */
export function toPage<Row>([page, count]: readonly D1Result<Counted<Row>>[]): { rows: Row[]; total: number } {
  return { rows: page?.results ?? [], total: count?.results[0]?.total ?? 0 }
}
