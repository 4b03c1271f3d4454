import { homedir } from "node:os"
import { readFileSync } from "node:fs"
import { Failure } from "../failure.ts"
import { type ClientName, CLIENTS, defaultModel, MAX_MODELS, setupOf } from "../../connect/clients.ts"
import { modelsOf } from "../connect/check.ts"
import { diffLines } from "../connect/diff.ts"
import { editFiles } from "../connect/edits.ts"
import { describeUndone, undo, writeFiles } from "../connect/files.ts"
import { connectByLink, describeFiles, readLink } from "../connect/link.ts"
import { type Command, type CommandInput, print, text } from "./command.ts"

export const connect: Command = {
  name: "connect",
  summary:
    "Points a coding tool at the gateway: writes its configuration, with a backup.\nThe key is GATEWAY_API_KEY, that of --key-file, or that of the one-time link in --link.",
  takes: [CLIENTS.join("|")],
  options: {
    model: { type: "string", description: "the model to use (default: one that the key may call)" },
    link: { type: "string", description: "a link of the console with the key; - reads standard input" },
    "key-file": { type: "string", description: "a file with the API key; - reads standard input" },
    key: { type: "string", description: "the API key itself, with --insecure-key: other users see arguments" },
    "insecure-key": { type: "boolean", description: "accept --key" },
    print: { type: "boolean", description: "print the configuration without the key, and write nothing" },
    "dry-run": { type: "boolean", description: "print what would change, and write nothing" },
    undo: { type: "boolean", description: "restore the previous configuration" },
    force: { type: "boolean", description: "with --undo: also files that were changed since" },
  },
  async run(input) {
    const client = CLIENTS.find((name) => name === input.positionals[0])
    if (!client) throw new Failure(`connect takes ${CLIENTS.join(", ")}.`, 2)
    if (input.values["undo"] === true) {
      const restored = undo(homedir(), client, input.values["force"] === true)
      return print(input, restored, describeUndone(restored).join("\n"))
    }
    const link = text(input, "link")
    return link === undefined ? connectByKey(input, client) : redeem(input, client, link)
  },
}

async function connectByKey(input: CommandInput, client: ClientName): Promise<void> {
  const home = homedir()
  const key = keyOf(input)
  const models = await modelsOf(input.api, key)
  const model = text(input, "model") ?? firstModel(client, models)
  if (!models.includes(model)) throw new Failure(`${model} is not among the ${models.length} models of this key.`)
  const connection = { home, base: input.api.url, key, model, models: models.slice(0, MAX_MODELS) }
  const { files, steps } = setupOf(client, connection)
  const hidden = (value: string) => value.replaceAll(key, "<GATEWAY_API_KEY>")
  if (input.values["print"] === true) {
    const blocks = files.map(({ path, edit }) => `# ${path}\n${edit(undefined).trimEnd()}`)
    return console.log(hidden([...blocks, ...steps].join("\n\n")))
  }
  const edited = editFiles(client, connection)
  if (input.values["dry-run"] === true) {
    const blocks = edited.map((one) => `# ${one.path}\n${diffLines(one.before ?? "", one.text).join("\n")}`)
    return console.log(hidden([...blocks, ...steps].join("\n\n")))
  }
  const written = writeFiles(home, client, edited)
  print(input, { client, model, files: written }, [...describeFiles(written), `model  ${model}`, ...steps].join("\n"))
}

function keyOf(input: CommandInput): string {
  const [argument, file] = [text(input, "key"), text(input, "key-file")]
  if (argument !== undefined) {
    if (input.values["insecure-key"] === true) return argument
    throw new Failure("--key shows the key to other users of this machine. Use --key-file, or add --insecure-key.", 2)
  }
  if (file === undefined) return input.api.clientKey
  const key = readKey(file).trim()
  if (key === "" || /\s/.test(key)) throw new Failure(`${file} must contain only one API key.`, 2)
  return key
}

function readKey(file: string): string {
  try {
    return readFileSync(file === "-" ? 0 : file, "utf8")
  } catch {
    throw new Failure(`${file} cannot be read.`, 2)
  }
}

function firstModel(client: ClientName, models: readonly string[]): string {
  const model = defaultModel(client, models)
  if (model === undefined) throw new Failure("This key may call no model. Set a provider's key, or check guardrails.")
  return model
}

/** Connects with a link from the console, which brings its key and gateway. */
async function redeem(input: CommandInput, client: ClientName, argument: string): Promise<void> {
  const link = readLink(argument === "-" ? readKey("-") : argument)
  if (link.client !== client) throw new Failure(`This link is for ${link.client}. Run: connect ${link.client}`, 2)
  const { model, files, steps, key } = await connectByLink(homedir(), link)
  const keyLine = files.length === 0 ? [`key    ${key}`] : []
  print(input, { client, model, files }, [...describeFiles(files), ...keyLine, `model  ${model}`, ...steps].join("\n"))
}
