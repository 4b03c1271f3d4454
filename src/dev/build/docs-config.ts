import { readFileSync, writeFileSync } from "node:fs"
import path from "node:path"
import { variables } from "../../config/variables.ts"
import { builtInProviders } from "../../providers/table.ts"
import { root } from "../options.ts"

/** `npm run docs:config`: writes the tables of docs/configuration.md from the source. */
const CONFIGURATION_PAGE = "docs/configuration.md"

/** The page with its generated tables replaced, each between `<!-- table: NAME -->` and `<!-- end -->`. */
function withTables(page: string): string {
  return page.replace(/<!-- table: (\w+) -->\n[\s\S]*?<!-- end -->/g, (_, name: string) => {
    const rows = name === "provider_keys" ? providerRows() : variableRows(name)
    return `<!-- table: ${name} -->\n\n${toTable(rows)}\n\n<!-- end -->`
  })
}

function variableRows(section: string): string[][] {
  const rows = Object.entries(variables).filter(([, variable]) => variable.section === section)
  if (rows.length === 0) throw new Error(`${CONFIGURATION_PAGE}: there is no section ${section}.`)
  return [
    ["name", "default", "effect"],
    ...rows.map(([name, variable]) => [`\`${name}\``, defaultOf(name), variable.effect]),
  ]
}

function defaultOf(name: string): string {
  const variable = Object.entries(variables).find(([other]) => other === name)?.[1]
  const parsed = variable?.schema.safeParse(undefined)
  const value = parsed?.success ? parsed.data : undefined
  if (value === undefined || value === "") return (variable && "unset" in variable && variable.unset) || "none"
  return `\`${String(value)}\``
}

function providerRows(): string[][] {
  return [
    ["slug", "name", "key", "API format", "base URL"],
    ...builtInProviders.map(({ slug, name, secret, format, responses, baseUrl, keyless }) => [
      `\`${slug}\``,
      name,
      `\`${secret}\``,
      format + (responses ? " + responses" : ""),
      baseUrl ?? (keyless ? "base URL only" : "base URL required"),
    ]),
  ]
}

/** A table as the formatter aligns it. */
function toTable(rows: readonly string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const line = (cells: readonly string[]) => `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |`
  const [head = [], ...body] = rows
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...body.map(line)].join("\n")
}

if (process.argv[1] === import.meta.filename) {
  const file = path.join(root, CONFIGURATION_PAGE)
  writeFileSync(file, withTables(readFileSync(file, "utf8")))
}
