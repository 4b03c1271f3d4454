import type { CallLine } from "../support/call-line.ts"
import { isObject, parseJson } from "../support/json.ts"
import type { LogLine } from "./runtime.ts"

export type LogFormat = "text" | "json"

/** Text on a terminal, JSON where the output is read by a program; LOG_FORMAT decides otherwise. */
export function logFormatOf(out: { isTTY?: boolean }, setting: string | undefined): LogFormat {
  if (setting === "text" || setting === "json") return setting
  return out.isTTY ? "text" : "json"
}

/** One line for each call, and for each error without its stack. */
export function formatLog({ level, message }: LogLine, format: LogFormat, now = new Date()): string {
  const line = parseJson(message)
  if (!isObject(line)) return format === "json" ? JSON.stringify({ time: now.toISOString(), level, message }) : message
  if (format === "json") return JSON.stringify({ time: now.toISOString(), ...line })
  return line["message"] === "call" ? formatCall(line, now) : formatEvent(line, now)
}

function formatCall(line: Partial<CallLine>, now: Date): string {
  const { status = 0, model, provider, failed_attempts: failed, ending, error, path } = line
  const target = model === undefined ? (path ?? "") : `${model}${provider ? ` → ${provider}` : ""}`
  const facts =
    model === undefined
      ? [`${ending}: ${error}`]
      : [
          `${line.duration_ms} ms`,
          `${line.prompt_tokens} in, ${line.completion_tokens} out`,
          `$${line.cost}`,
          ...(ending === undefined ? [] : [ending]),
          ...(failed ? [`failed: ${failed.join(", ")}`] : []),
          line.key ?? "",
        ]
  return `${dim(clock(now))}  ${colour(status)}  ${target}  ${dim(facts.filter(Boolean).join("  "))}`
}

function formatEvent(line: Record<string, unknown>, now: Date): string {
  const { level, message, cause, requestId, ...fields } = line
  const rest = Object.entries({ ...fields, ...(requestId !== undefined && { request: requestId }) })
  const reason = isObject(cause) ? ` (${String(cause["name"])}: ${String(cause["message"])})` : ""
  const details = rest.map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`)
  const mark = level === "error" ? red("error") : yellow(typeof level === "string" ? level : "info")
  return [dim(clock(now)), mark, `${String(message)}${reason}`, dim(details.join(" "))].join("  ").trimEnd()
}

function clock(now: Date): string {
  return now.toTimeString().slice(0, 8)
}

function colour(status: number): string {
  const text = String(status)
  return status < 400 ? green(text) : status < 500 ? yellow(text) : red(text)
}

const paint = (code: number) => (text: string) => `\u001b[${code}m${text}\u001b[0m`
const [red, green, yellow, dim] = [paint(31), paint(32), paint(33), paint(2)]
