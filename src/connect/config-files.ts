import { isObject, type Json, parseJson } from "../support/text/json.ts"

/** A configuration file of a client that contains settings of the gateway, the user and the client. */
export type ConfigFile = {
  path: string
  /** The file with the gateway's settings. `before`: its present text; undefined if it does not exist. */
  edit: (before: string | undefined) => string
  /** Only the gateway's settings. If equal for two texts, they were not changed. */
  settings: (text: string) => string
  /** `text` with the settings of `before` instead of the gateway's; undefined if nothing remains. */
  restore: (text: string, before: string | undefined) => string | undefined
}

/** The file exists and cannot be edited safely. */
export class NotEditable extends Error {}

/** `replacedField`: the name of an object that is replaced, not merged. */
export function jsonFile(path: string, settings: Json, replacedField?: string): ConfigFile {
  const paths = pathsOf(settings, replacedField)
  const read = (text: string | undefined) => readJson(path, text)
  return {
    path,
    edit: (before) => {
      const present = read(before)
      for (const names of paths) setAt(present, names, valueAt(settings, names))
      return writeJson(present)
    },
    settings: (text) => JSON.stringify(paths.map((names) => valueAt(read(text), names) ?? null)),
    restore: (text, before) => {
      const [present, old] = [read(text), read(before)]
      for (const names of paths) {
        const value = valueAt(old, names)
        if (value === undefined) removeAt(present, names, old)
        else setAt(present, names, value)
      }
      return before === undefined && Object.keys(present).length === 0 ? undefined : writeJson(present)
    },
  }
}

function readJson(path: string, text: string | undefined): Json {
  const value = text === undefined || text.trim() === "" ? {} : parseJson(text)
  if (!isObject(value)) throw new NotEditable(`${path} is not plain JSON; it may contain comments.`)
  return value
}

function writeJson(value: Json): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

function pathsOf(settings: Json, replacedField: string | undefined): string[][] {
  return Object.entries(settings).flatMap(([name, value]) =>
    isObject(value) && name !== replacedField
      ? pathsOf(value, replacedField).map((names) => [name, ...names])
      : [[name]],
  )
}

function valueAt(value: unknown, names: readonly string[]): unknown {
  return names.reduce((inner, name) => (isObject(inner) ? inner[name] : undefined), value)
}

function setAt(target: Json, [name = "", ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) target[name] = value
  else {
    const inner = target[name]
    const next = isObject(inner) ? inner : {}
    target[name] = next
    setAt(next, rest, value)
  }
}

/** An object that becomes empty is removed as well, unless `old` has it. */
function removeAt(target: Json, [name = "", ...rest]: readonly string[], old: unknown): void {
  const inner = target[name]
  const before = isObject(old) ? old[name] : undefined
  if (rest.length > 0 && isObject(inner)) {
    removeAt(inner, rest, before)
    if (Object.keys(inner).length > 0 || isObject(before)) return
  }
  if (before === undefined || rest.length === 0) delete target[name]
  else target[name] = before
}

/** Edits lines of the root and one table; every other line is unchanged. */
export function tomlFile(path: string, root: Readonly<Record<string, string>>, table: readonly string[]): ConfigFile {
  const names = Object.keys(root)
  const [title = ""] = table
  return {
    path,
    edit: (before = "") => {
      const { head, rest } = split(before)
      const others = withoutTable(rest, title)
      const remaining = head.filter((line) => !sets(line, names))
      const keys = Object.entries(root).map(([name, value]) => `${name} = ${value}`)
      return join([keys.join("\n"), remaining.join("\n"), others.join("\n"), table.join("\n")])
    },
    settings: (text) => {
      const { head, rest } = split(text)
      return [...head.filter((line) => sets(line, names)), ...linesOfTables(rest, title)].join("\n")
    },
    restore: (text, before) => {
      const { head, rest } = split(text)
      const old = split(before ?? "")
      const parts = [restoreLines(head, old.head, names), withoutTable(rest, title), tableOf(old.rest, title)]
      const restored = join(parts.map((lines) => lines.join("\n")))
      return before === undefined && restored.trim() === "" ? undefined : restored
    },
  }
}

function split(toml: string): { head: string[]; rest: string[] } {
  if (/"""|'''/.test(toml)) throw new NotEditable("config.toml has multi-line strings.")
  const lines = toml.split(/\r?\n/)
  const first = lines.findIndex((line) => /^\s*\[/.test(line))
  return first < 0 ? { head: lines, rest: [] } : { head: lines.slice(0, first), rest: lines.slice(first) }
}

/** Comments before the next table are kept: they belong to that table. */
function withoutTable(lines: readonly string[], title: string): string[] {
  const start = lines.findIndex((line) => line.trim() === title)
  if (start < 0) return [...lines]
  const after = lines.slice(start + tableOf(lines, title).length)
  const next = after.findIndex((line) => line.trim() !== "")
  return [...lines.slice(0, start), ...(next < 0 ? [] : after.slice(next))]
}

function tableOf(lines: readonly string[], title: string): string[] {
  const start = lines.findIndex((line) => line.trim() === title)
  if (start < 0) return []
  const length = lines.slice(start + 1).findIndex((line) => /^\s*\[/.test(line))
  const table = length < 0 ? lines.slice(start) : lines.slice(start, start + 1 + length)
  const last = table.findLastIndex((line) => /^\s*[^\s#]/.test(line))
  return table.slice(0, last + 1)
}

/** Includes the tables below it, which the gateway did not write. */
function linesOfTables(lines: readonly string[], title: string): string[] {
  const below = `${title.slice(0, -1)}.`
  return [...tableOf(lines, title), ...lines.filter((line) => line.trim().startsWith(below))]
}

function join(parts: readonly string[]): string {
  const filled = parts.map((part) => part.replaceAll(/^\n+|\s+$/g, "")).filter((part) => part !== "")
  return `${filled.join("\n\n")}\n`
}

export function envFile(path: string, values: Readonly<Record<string, string>>): ConfigFile {
  const names = Object.keys(values)
  const linesOf = (text: string) => text.split(/\r?\n/).filter((line) => line !== "")
  return {
    path,
    edit: (before = "") => {
      const remaining = linesOf(before).filter((line) => !sets(line, names))
      return `${[...remaining, ...names.map((name) => `${name}=${values[name]}`)].join("\n")}\n`
    },
    settings: (text) =>
      linesOf(text)
        .filter((line) => sets(line, names))
        .join("\n"),
    restore: (text, before) => {
      const lines = restoreLines(linesOf(text), linesOf(before ?? ""), names)
      return before === undefined && lines.length === 0 ? undefined : `${lines.join("\n")}\n`
    },
  }
}

function sets(line: string, names: readonly string[]): boolean {
  return names.some((name) => new RegExp(`^\\s*(?:export\\s+)?${name}\\s*=`).test(line))
}

/** Restores each line that sets a name to its previous text, or removes it. */
function restoreLines(lines: readonly string[], before: readonly string[], names: readonly string[]): string[] {
  return lines.flatMap((line) => {
    const name = names.find((one) => sets(line, [one]))
    return name === undefined ? [line] : before.filter((old) => sets(old, [name]))
  })
}

/** A file that only the gateway uses. */
export function secretFile(path: string, secret: string): ConfigFile {
  return { path, edit: () => secret, settings: (text) => text, restore: (_, before) => before }
}
