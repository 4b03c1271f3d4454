import { type SQL, sql, type SQLWrapper } from "drizzle-orm"

/** SQLite knows the case of ASCII letters only; both sides are treated alike. */
const inLowerCase = (text: string) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

/** Rows with this text in one of the columns, in any case of ASCII letters. Nothing in it is a pattern. */
export function containsText(text: string | undefined, columns: readonly SQLWrapper[]): SQL | undefined {
  const wanted = inLowerCase(text ?? "").trim()
  if (wanted === "") return undefined
  const found = columns.map((column) => sql`instr(lower(coalesce(${column}, '')), ${wanted}) > 0`)
  return sql`(${sql.join(found, sql` OR `)})`
}
