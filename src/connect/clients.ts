import { isObject, type Json, parseJson } from "../support/json.ts"

/** The configuration of clients. Runs in Node, where it is written, and in the Worker, which shows it. */

/** A file that is there and cannot be edited safely. */
export class NotEditable extends Error {}

/** What a client's configuration is made of. `base` ends in /api/v1. */
export type Connection = { home: string; base: string; key: string; model: string; models: readonly string[] }

/** A file that is to be written. `before`: its present text; undefined if it does not exist. */
export type FileEdit = { path: string; edit: (before: string | undefined) => string }

export type ClientSetup = { files: FileEdit[]; steps: string[] }

export const CLIENTS = ["codex", "claude", "opencode", "qwen", "cursor"] as const
export type ClientName = (typeof CLIENTS)[number]

/** Most models that a configuration lists. */
export const MOST_MODELS = 200

/** The family that a client is made for, if the gateway has it. */
const PREFERRED: Partial<Record<ClientName, string>> = { codex: "openai/", claude: "anthropic/", qwen: "qwen/" }

/** The model of a client that none was chosen for; undefined where the key may call none. */
export function defaultModel(client: ClientName, models: readonly string[]): string | undefined {
  const family = PREFERRED[client]
  return models.find((id) => family !== undefined && id.startsWith(family)) ?? models[0]
}

const PROVIDER = "gateway"
const KEY_NAME = "GATEWAY_API_KEY"

export function setupOf(client: ClientName, connection: Connection): ClientSetup {
  return SETUPS[client](connection)
}

const SETUPS: Record<ClientName, (connection: Connection) => ClientSetup> = { codex, claude, opencode, qwen, cursor }

/** Codex reads ~/.codex/.env at its start; `wire_api` has no other value any more. */
function codex({ home, base, key, model }: Connection): ClientSetup {
  const folder = `${home}/.codex`
  const root = { model: JSON.stringify(model), model_provider: JSON.stringify(PROVIDER) }
  const table = [
    `[model_providers.${PROVIDER}]`,
    'name = "Gateway"',
    `base_url = ${JSON.stringify(base)}`,
    `env_key = "${KEY_NAME}"`,
    'wire_api = "responses"',
  ]
  return {
    files: [
      { path: `${folder}/config.toml`, edit: (before = "") => editToml(before, root, table) },
      { path: `${folder}/.env`, edit: (before = "") => editEnv(before, { [KEY_NAME]: key }) },
    ],
    steps: ["Run: codex"],
  }
}

/** Its client adds /v1 itself. A model of each size, so that background work is sent to the gateway's model as well. */
function claude({ home, base, key, model }: Connection): ClientSetup {
  const env = {
    ANTHROPIC_BASE_URL: base.replace(/\/v1$/, ""),
    ANTHROPIC_AUTH_TOKEN: key,
    ANTHROPIC_MODEL: model,
    ANTHROPIC_DEFAULT_OPUS_MODEL: model,
    ANTHROPIC_DEFAULT_SONNET_MODEL: model,
    ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
  }
  const file = `${home}/.claude/settings.json`
  return {
    files: [{ path: file, edit: (before) => editJson(file, before, { env }) }],
    steps: ["Unset ANTHROPIC_API_KEY: it is sent beside the gateway's key.", "Run: claude"],
  }
}

function opencode({ home, base, key, model, models }: Connection): ClientSetup {
  const folder = `${home}/.config/opencode`
  const file = `${folder}/opencode.json`
  const keyFile = `${folder}/gateway-key`
  const names = [...new Set([model, ...models])]
  const provider = {
    npm: "@ai-sdk/openai-compatible",
    name: "Gateway",
    options: { baseURL: base, apiKey: `{file:${keyFile}}` },
    models: Object.fromEntries(names.map((name) => [name, {}])),
  }
  // opencode adds the schema by itself, and a file that was changed is not undone.
  const $schema = "https://opencode.ai/config.json"
  const settings = { $schema, provider: { [PROVIDER]: provider }, model: `${PROVIDER}/${model}` }
  return {
    files: [
      { path: file, edit: (before) => editJson(file, before, settings) },
      { path: keyFile, edit: () => key },
    ],
    steps: [`Run: opencode run -m ${PROVIDER}/${model} "Hello"`],
  }
}

function qwen({ home, base, key, model }: Connection): ClientSetup {
  const folder = `${home}/.qwen`
  const file = `${folder}/settings.json`
  const settings = { security: { auth: { selectedType: "openai" } }, model: { name: model } }
  const env = { OPENAI_API_KEY: key, OPENAI_BASE_URL: base, OPENAI_MODEL: model }
  return {
    files: [
      { path: file, edit: (before) => editJson(file, before, settings) },
      { path: `${folder}/.env`, edit: (before = "") => editEnv(before, env) },
    ],
    steps: ["Run: qwen"],
  }
}

/** Cursor keeps these settings in its own database, and its servers send the requests. */
function cursor({ base, model }: Connection): ClientSetup {
  return {
    files: [],
    steps: [
      "Cursor has no file for these settings. Open Cursor Settings, Models, API Keys:",
      "1. OpenAI API Key: paste the gateway's key.",
      `2. Override OpenAI Base URL: turn it on, ${base}`,
      `3. Add custom model: ${model}`,
      "Cursor's servers send the requests, so the gateway needs a public https address.",
    ],
  }
}

/** Sets root keys and replaces one table; every other line stays. */
function editToml(before: string, root: Readonly<Record<string, string>>, table: readonly string[]): string {
  if (/"""|'''/.test(before)) {
    throw new NotEditable("config.toml has strings of several lines.")
  }
  const lines = before.split(/\r?\n/)
  const first = lines.findIndex((line) => /^\s*\[/.test(line))
  const head = first < 0 ? lines : lines.slice(0, first)
  const [title = ""] = table
  const rest = withoutTable(first < 0 ? [] : lines.slice(first), title)
  const kept = head.filter((line) => !Object.keys(root).some((name) => new RegExp(`^\\s*${name}\\s*=`).test(line)))
  const keys = Object.entries(root).map(([name, value]) => `${name} = ${value}`)
  return join([keys.join("\n"), kept.join("\n"), rest.join("\n"), table.join("\n")])
}

function withoutTable(lines: readonly string[], title: string): string[] {
  const start = lines.findIndex((line) => line.trim() === title)
  if (start < 0) return [...lines]
  const length = lines.slice(start + 1).findIndex((line) => /^\s*\[/.test(line))
  return [...lines.slice(0, start), ...(length < 0 ? [] : lines.slice(start + 1 + length))]
}

function join(parts: readonly string[]): string {
  const filled = parts.map((part) => part.replaceAll(/^\n+|\s+$/g, "")).filter((part) => part !== "")
  return `${filled.join("\n\n")}\n`
}

function editEnv(before: string, values: Readonly<Record<string, string>>): string {
  const names = Object.keys(values)
  const isOurs = (line: string) => names.some((name) => new RegExp(`^\\s*(?:export\\s+)?${name}\\s*=`).test(line))
  const kept = before.split(/\r?\n/).filter((line) => line !== "" && !isOurs(line))
  return `${[...kept, ...names.map((name) => `${name}=${values[name]}`)].join("\n")}\n`
}

function editJson(file: string, before: string | undefined, settings: Json): string {
  const present = before === undefined || before.trim() === "" ? {} : parseJson(before)
  if (!isObject(present)) {
    throw new NotEditable(`${file} is not plain JSON, perhaps for its comments.`)
  }
  return `${JSON.stringify(merge(present, settings), null, 2)}\n`
}

function merge(present: Json, settings: Json): Json {
  const merged: Json = { ...present }
  for (const [name, value] of Object.entries(settings)) {
    const old = merged[name]
    // The gateway's own provider is replaced: a model that is gone must not stay in it.
    merged[name] = isObject(old) && isObject(value) && name !== PROVIDER ? merge(old, value) : value
  }
  return merged
}
