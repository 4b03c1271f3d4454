import { parseArgs, type ParseArgsConfig } from "node:util"
import { printableLine } from "../../support/text/printable.ts"
import type { Api } from "../api.ts"
import { Failure } from "../failure.ts"

type Options = NonNullable<ParseArgsConfig["options"]>
export type CommandInput = { values: Readonly<Record<string, unknown>>; positionals: string[]; api: Api }

export type Command = {
  /** `keys create`. */
  name: string
  summary: string
  /** Names of positional arguments, `[…]` for optional ones. */
  takes: readonly string[]
  /** By name, with a description. */
  options: Readonly<Record<string, { type: "string" | "boolean"; description: string }>>
  /** The exit code of every failure, if 2 has another meaning. */
  failureCode?: number
  /** Returns the exit code if it is not 0. */
  run: (input: CommandInput) => Promise<number | void>
}

export const SHARED: Command["options"] = {
  url: {
    type: "string",
    description: "the gateway, such as https://gateway.example.com/api/v1 (default: GATEWAY_URL)",
  },
  json: { type: "boolean", description: "print the gateway's response as JSON" },
  help: { type: "boolean", description: "print this help" },
}

export function usageOf({ name, summary, takes, options }: Command): string {
  const all = { ...options, ...SHARED }
  const width = Math.max(...Object.keys(all).map((option) => option.length))
  const lines = Object.entries(all).map(([option, { description }]) => `  --${option.padEnd(width)}  ${description}`)
  const rest = takes.length > 0 ? ` ${takes.join(" ")}` : ""
  return `npm run gateway -- ${name}${rest} [options]\n\n${summary}\n\n${lines.join("\n")}`
}

/** Parses the arguments of a command. Throws its usage text if they are invalid. */
export function readArguments(command: Command, argv: readonly string[]): Omit<CommandInput, "api"> {
  const all = Object.entries({ ...command.options, ...SHARED })
  const options: Options = Object.fromEntries(all.map(([name, { type }]) => [name, { type }]))
  try {
    const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true })
    const needed = command.takes.filter((name) => !name.startsWith("["))
    const isRequesting = values["help"] === true
    if (!isRequesting && (positionals.length < needed.length || positionals.length > command.takes.length)) {
      throw new Error(`${command.name} takes ${command.takes.join(" ") || "nothing"}.`)
    }
    return { values, positionals }
  } catch (error) {
    throw new Failure(`${error instanceof Error ? error.message : String(error)}\n\n${usageOf(command)}`, 2)
  }
}

export function text({ values }: CommandInput, name: string): string | undefined {
  const value = values[name]
  return typeof value === "string" ? value : undefined
}

export function number(input: CommandInput, name: string): number | undefined {
  const value = text(input, name)
  return value === undefined ? undefined : toNumber(value, `--${name}`)
}

/** No hexadecimal or exponent, which are typing errors in an amount. */
const DECIMAL = /^-?\d{1,15}(?:\.\d{1,12})?$/

export function toNumber(value: string, name: string): number {
  if (!DECIMAL.test(value)) throw new Failure(`${name} must be a number.`, 2)
  return Number(value)
}

/** Drops undefined fields of a body. */
export function input(body: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
}

/** Rows under their names, in columns. */
export function table(names: readonly string[], rows: readonly (readonly (string | number | null)[])[]): string {
  const cells = [names, ...rows.map((row) => row.map((cell) => printableLine(String(cell ?? "-"))))]
  const widths = names.map((_, at) => Math.max(...cells.map((row) => (row[at] ?? "").length)))
  return cells
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n")
}

/** Prints the response as JSON with `--json`, otherwise the text. */
export function print({ values }: CommandInput, response: unknown, text: string): void {
  console.log(values["json"] === true ? JSON.stringify(response, null, 2) : text)
}
