type Row = Readonly<Record<string, string | number | null>>

/** Rows as a CSV file. */
export function toCsv(rows: readonly Row[]): string {
  const names = Object.keys(rows[0] ?? {})
  const cell = (value: string | number | null | undefined) => {
    const text = String(value ?? "")
    // A text that begins like a formula would run in a spreadsheet.
    const safe = typeof value === "string" && /^[=+\-@\t\r\n\uFF0B\uFF0D\uFF1D\uFF20]/.test(text) ? `'${text}` : text
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
  }
  return [names.join(","), ...rows.map((row) => names.map((name) => cell(row[name])).join(","))].join("\r\n")
}
