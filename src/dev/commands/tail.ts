import { createInterface } from "node:readline"
import { formatLog, logFormatOf } from "../../local/log-printer.ts"
import { isObject, objectsOf, parseJson } from "../../support/text/json.ts"
import { startWrangler } from "../start/wrangler.ts"
import type { Command } from "./command.ts"

export const tail: Command = {
  name: "tail",
  summary: "Follows the log of the deployed gateway: one line for each call. Needs a login of wrangler.",
  takes: [],
  options: {},
  async run() {
    const child = startWrangler(["tail", "--env", "production", "--format", "json"])
    process.once("SIGINT", () => child.kill())
    child.stderr?.pipe(process.stderr)
    const format = logFormatOf(process.stdout, process.env)
    if (child.stdout) for await (const event of eventsOf(createInterface(child.stdout))) printEvent(event, format)
    return child.exitCode ?? 0
  },
}

/** wrangler prints each event as indented JSON whose last line is only a brace. */
async function* eventsOf(lines: AsyncIterable<string>): AsyncGenerator<unknown> {
  let text = ""
  for await (const line of lines) {
    text += `${line}\n`
    if (line !== "}") continue
    yield parseJson(text)
    text = ""
  }
}

function printEvent(event: unknown, format: ReturnType<typeof logFormatOf>): void {
  if (!isObject(event)) return
  for (const { level, message, timestamp } of objectsOf(event["logs"])) {
    const [first] = Array.isArray(message) ? message : [message]
    const line = { level: String(level), message: String(first) }
    console.log(formatLog(line, format, new Date(Number(timestamp) || Date.now())))
  }
}
