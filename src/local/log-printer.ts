import type { CallLine } from "../support/call-line.ts"
import { printable, printableLine } from "../support/text/printable.ts"
import { isObject, parseJson } from "../support/text/json.ts"
import type { LogLine } from "./runtime.ts"

export type LogFormat = "colored" | "text" | "json"

type Settings = { LOG_FORMAT?: string | undefined; NO_COLOR?: string | undefined }

/**
 * Text on a terminal, JSON if a program reads the output; LOG_FORMAT overrides this. Colors only on terminals, unless
 * NO_COLOR is set.
 */
export function logFormatOf(out: { isTTY?: boolean }, { LOG_FORMAT: setting, NO_COLOR: plain }: Settings): LogFormat {
  const isText = setting === "text" || (setting !== "json" && out.isTTY === true)
  if (!isText) return "json"
  return out.isTTY === true && !plain ? "colored" : "text"
}

/** One line per call, and per error without its stack. */
export function formatLog({ level, message }: LogLine, format: LogFormat, now = new Date()): string {
  const line = parseJson(message)
  if (!isObject(line)) {
    const text = withoutAddresses(message)
    if (format === "json") return JSON.stringify({ time: now.toISOString(), level, message: text })
    return printable(text)
  }
  if (format === "json") return JSON.stringify({ time: now.toISOString(), ...line })
  const paint = painterOf(format)
  return line["message"] === "call" ? formatCall(line, now, paint) : formatEvent(line, now, paint)
}

/** A workerd message without its source location and stack addresses. */
function withoutAddresses(message: string): string {
  return message.replace(/^e = \S+:\d+: failed: /, "").replace(/\nstack: (?:\S+@[0-9a-f]+\s*)+.*$/s, "")
}

/** Marks and colors a part of a line, which may contain text from clients. */
type Paint = (code: number, text: string) => string

function painterOf(format: LogFormat): Paint {
  return (code, text) => (format === "colored" ? `\u001b[${code}m${printableLine(text)}\u001b[0m` : printableLine(text))
}

const [RED, GREEN, YELLOW, DIM] = [31, 32, 33, 2]

function formatCall(line: Partial<CallLine>, now: Date, paint: Paint): string {
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
  const color = status < 400 ? GREEN : status < 500 ? YELLOW : RED
  const details = paint(DIM, facts.filter(Boolean).join("  "))
  return `${paint(DIM, clock(now))}  ${paint(color, String(status))}  ${printableLine(target)}  ${details}`
}

function formatEvent(line: Record<string, unknown>, now: Date, paint: Paint): string {
  const { level, message, cause, requestId, ...fields } = line
  const rest = Object.entries({ ...fields, ...(requestId !== undefined && { request: requestId }) })
  const reason = isObject(cause) ? ` (${String(cause["name"])}: ${String(cause["message"])})` : ""
  const details = rest.map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`)
  const mark = level === "error" ? paint(RED, "error") : paint(YELLOW, typeof level === "string" ? level : "info")
  const parts = [
    paint(DIM, clock(now)),
    mark,
    printableLine(`${String(message)}${reason}`),
    paint(DIM, details.join(" ")),
  ]
  return parts.join("  ").trimEnd()
}

function clock(now: Date): string {
  return now.toTimeString().slice(0, 8)
}
