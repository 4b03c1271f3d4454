import { homedir } from "node:os"
import { type ClientName, CLIENTS } from "../../connect/clients.ts"
import { Failure } from "../failure.ts"
import { describeUndone, undo } from "./files.ts"
import { connectByLink, describeFiles, readLink } from "./link.ts"

/**
 * The script for developers without this repository: the console serves it as /connect.js. The link is in GATEWAY_LINK;
 * `--undo CLIENT` restores the previous files.
 */
async function main([option, name]: readonly string[]): Promise<string[]> {
  if (option === "--undo") return describeUndone(undo(homedir(), clientOf(name), false))
  const text = process.env["GATEWAY_LINK"]
  if (option !== undefined || !text) throw new Failure("Set GATEWAY_LINK to the link, or pass --undo CLIENT.", 2)
  const link = readLink(text)
  const { model, files, steps, key } = await connectByLink(homedir(), link)
  if (files.length === 0) return [`key    ${key}`, `model  ${model}`, ...steps]
  const remedy = `undo   curl -fsS ${link.origin}/connect.js | node - --undo ${link.client}`
  return [...describeFiles(files), `model  ${model}`, remedy, ...steps]
}

function clientOf(name: string | undefined): ClientName {
  const client = CLIENTS.find((one) => one === name)
  if (!client) throw new Failure(`--undo takes ${CLIENTS.join(", ")}.`, 2)
  return client
}

main(process.argv.slice(2)).then(
  (lines) => console.log(lines.join("\n")),
  (error: unknown) => {
    if (!(error instanceof Failure)) throw error
    console.error(error.message)
    process.exitCode = error.exitCode
  },
)
