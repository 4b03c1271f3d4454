/** Used fields of wrangler.toml and of `wrangler d1 info`. */
type Production = { vars: Record<string, unknown>; r2_buckets: readonly { jurisdiction?: string }[] }
type DatabaseInfo = { jurisdiction?: string | null }

/** The jurisdiction of the deployment's data; undefined for none. Throws if wrangler.toml names two. */
export function jurisdictionOf({ vars, r2_buckets: buckets }: Production): string | undefined {
  const jurisdiction = typeof vars["JURISDICTION"] === "string" ? vars["JURISDICTION"] || undefined : undefined
  if (buckets.some((bucket) => bucket.jurisdiction !== jurisdiction)) {
    const [line, table] =
      jurisdiction === undefined
        ? ["JURISDICTION, as the bucket has", "[env.production.vars]"]
        : [`jurisdiction = "${jurisdiction}", as JURISDICTION is`, "[[env.production.r2_buckets]]"]
    throw new Error(`wrangler.toml: ${table} must have ${line}.`)
  }
  return jurisdiction
}

/**
 * Throws if the database exists in another jurisdiction: it cannot be moved. `printed`: by `wrangler d1 info --json`.
 */
export function requireDatabaseIn(jurisdiction: string | undefined, printed: string): void {
  const { jurisdiction: actual } = JSON.parse(printed) as DatabaseInfo
  if (actual === undefined || (actual ?? undefined) === jurisdiction) return
  throw new Error(
    `The database "gateway" is ${actual === null ? "in no jurisdiction" : `in the jurisdiction ${actual}`}, and cannot be moved. ` +
      `Give the database, the bucket and the Worker other names in wrangler.toml, or set JURISDICTION to ${actual === null ? "nothing" : actual}.`,
  )
}
