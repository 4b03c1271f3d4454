import { type ConfigFile, envFile, jsonFile, secretFile, tomlFile } from "./config-files.ts"

/** Configuration of clients. Runs in Node, which writes it, and in the Worker, which shows it. */

/** Input of a client's configuration. `base` ends in /api/v1. */
export type Connection = { home: string; base: string; key: string; model: string; models: readonly string[] }

export type ClientSetup = { files: ConfigFile[]; steps: string[] }

export const CLIENTS = ["codex", "claude", "gemini", "opencode", "qwen", "cursor"] as const
export type ClientName = (typeof CLIENTS)[number]

/** Maximum number of models in a configuration. */
export const MAX_MODELS = 200

/** The preferred model author of a client, if the gateway has it. */
const PREFERRED: Partial<Record<ClientName, string>> = {
  codex: "openai/",
  claude: "anthropic/",
  gemini: "google/",
  qwen: "qwen/",
}

/** The default model of a client; undefined if the key may call no model. */
export function defaultModel(client: ClientName, models: readonly string[]): string | undefined {
  const family = PREFERRED[client]
  return models.find((id) => family !== undefined && id.startsWith(family)) ?? models[0]
}

const PROVIDER = "gateway"
const KEY_NAME = "GATEWAY_API_KEY"

export function setupOf(client: ClientName, connection: Connection): ClientSetup {
  return SETUPS[client](connection)
}

const SETUPS: Record<ClientName, (connection: Connection) => ClientSetup> = {
  codex,
  claude,
  gemini,
  opencode,
  qwen,
  cursor,
}

/** Codex reads ~/.codex/.env at its start; `wire_api` no longer has other values. */
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
    files: [tomlFile(`${folder}/config.toml`, root, table), envFile(`${folder}/.env`, { [KEY_NAME]: key })],
    steps: ["Run: codex"],
  }
}

/** The client adds /v1 itself. Sets a model for each size, so that background work also uses the gateway's model. */
function claude({ home, base, key, model }: Connection): ClientSetup {
  const env = {
    ANTHROPIC_BASE_URL: base.replace(/\/v1$/, ""),
    ANTHROPIC_AUTH_TOKEN: key,
    ANTHROPIC_MODEL: model,
    ANTHROPIC_DEFAULT_FABLE_MODEL: model,
    ANTHROPIC_DEFAULT_OPUS_MODEL: model,
    ANTHROPIC_DEFAULT_SONNET_MODEL: model,
    ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
  }
  return {
    files: [jsonFile(`${home}/.claude/settings.json`, { env })],
    steps: ["Unset ANTHROPIC_API_KEY: it is sent together with the gateway's key.", "Run: claude"],
  }
}

/** The client adds /v1beta itself. Without the kind of key, it requires a sign-in. */
function gemini({ home, base, key, model }: Connection): ClientSetup {
  const folder = `${home}/.gemini`
  const settings = { security: { auth: { selectedType: "gemini-api-key" } }, model: { name: model } }
  const env = { GEMINI_API_KEY: key, GOOGLE_GEMINI_BASE_URL: base.replace(/\/v1$/, "") }
  return {
    files: [jsonFile(`${folder}/settings.json`, settings), envFile(`${folder}/.env`, env)],
    steps: ["Run: gemini"],
  }
}

function opencode({ home, base, key, model, models }: Connection): ClientSetup {
  const folder = `${home}/.config/opencode`
  const keyFile = `${folder}/gateway-key`
  const names = [...new Set([model, ...models])]
  const provider = {
    npm: "@ai-sdk/openai-compatible",
    name: "Gateway",
    options: { baseURL: base, apiKey: `{file:${keyFile}}` },
    models: Object.fromEntries(names.map((name) => [name, {}])),
  }
  // opencode adds the schema by itself.
  const $schema = "https://opencode.ai/config.json"
  const settings = { $schema, provider: { [PROVIDER]: provider }, model: `${PROVIDER}/${model}` }
  return {
    files: [jsonFile(`${folder}/opencode.json`, settings, PROVIDER), secretFile(keyFile, key)],
    steps: [`Run: opencode run -m ${PROVIDER}/${model} "Hello"`],
  }
}

function qwen({ home, base, key, model }: Connection): ClientSetup {
  const folder = `${home}/.qwen`
  const settings = { security: { auth: { selectedType: "openai" } }, model: { name: model } }
  const env = { OPENAI_API_KEY: key, OPENAI_BASE_URL: base, OPENAI_MODEL: model }
  return {
    files: [jsonFile(`${folder}/settings.json`, settings), envFile(`${folder}/.env`, env)],
    steps: ["Run: qwen"],
  }
}

/** Cursor stores these settings in its database, and its servers send the requests. */
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
