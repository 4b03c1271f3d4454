import { DatabaseSync } from "node:sqlite"

/** Storage of an object, on SQLite of Node. */
export function sqlStorage(): SqlStorage {
  const database = new DatabaseSync(":memory:")
  const exec = (text: string, ...values: (string | number | ArrayBuffer)[]) => {
    const bound = values.map((value) => (value instanceof ArrayBuffer ? new Uint8Array(value) : value))
    // Node prepares one statement; several, such as table definitions, return no rows.
    const isOne = !text.trim().slice(0, -1).includes(";")
    if (!isOne) database.exec(text)
    const rows = isOne ? database.prepare(text).all(...bound) : []
    return { [Symbol.iterator]: () => rows[Symbol.iterator](), toArray: () => rows, one: () => rows[0] }
  }
  return { exec } as unknown as SqlStorage
}
