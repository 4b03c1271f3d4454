import path from "node:path"
import type { McpServer } from "@agentclientprotocol/sdk"
import type { DaemonConfig } from "../../interns/hosts/daemon-protocol.ts"
import type { Agent } from "./agent-process.ts"

/** How an agent is started: its command, additional environment variables, and its settings as files. */
export type AgentSetup = {
  argv: readonly string[]
  /** The npm package that has the command. */
  package?: string
  env: Record<string, string>
  files: Record<string, string>
  /** Written once, into a new home: the agent may change them. */
  firstFiles?: Record<string, string>
  /** ACP session mode to set if the agent's default mode does not request permissions. */
  sessionMode?: string
  /** Permission requests for commands have no input: their title is the exact command. */
  titlesAreCommands?: boolean
}

/** Variable of the intern's own key in the agent's environment. */
const KEY_NAME = "INTERN_KEY"

type Where = { home: string }

/**
 * Known agents. Each is configured to request permission before it acts, to reach models only through the gateway, and
 * not to update itself.
 */
const KNOWN: Record<string, (config: DaemonConfig, where: Where) => AgentSetup> = {
  opencode,
  qwen,
  gemini,
  codex,
  claude,
}

export function setupOf(agent: readonly string[], config: DaemonConfig, where: Where): AgentSetup {
  const knownSetup = agent.length === 1 ? KNOWN[agent[0] ?? ""] : undefined
  return knownSetup ? knownSetup(config, where) : custom(agent, config)
}

/** Permissions of opencode: requires permission for every tool except those that only read local data. The last match wins. */
const PERMISSIONS = {
  "*": "ask",
  read: "allow",
  list: "allow",
  glob: "allow",
  grep: "allow",
  lsp: "allow",
  skill: "allow",
  task: "allow",
  todoread: "allow",
  todowrite: "allow",
}

/** The intern's MCP servers, through the gateway with the intern's own key; none for an agent without HTTP support. */
export function mcpServersOf({ mcpHttp }: Pick<Agent, "mcpHttp">, config: DaemonConfig): McpServer[] {
  if (!mcpHttp) return []
  const headers = [{ name: "Authorization", value: `Bearer ${config.api_key}` }]
  return (config.mcp_servers ?? []).map((name) => ({
    type: "http",
    name,
    url: `${config.api_base}/mcp/${name}`,
    headers,
  }))
}

/**
 * opencode installs the package for plugins from the npm registry into its configuration folder, unless it is in the
 * lock file of that folder. Interns need no plugins.
 */
function withoutPluginPackage(home: string): Record<string, string> {
  const folder = path.join(home, ".config/opencode")
  const lock = { packages: { "": { dependencies: { "@opencode-ai/plugin": "*" } } } }
  return {
    [path.join(folder, "package-lock.json")]: JSON.stringify(lock),
    [path.join(folder, "node_modules/.keep")]: "",
  }
}

function opencode(config: DaemonConfig, { home }: Where): AgentSetup {
  const file = path.join(home, "opencode.json")
  const model = modelOf(config)
  const settings = {
    enabled_providers: ["gw"],
    provider: {
      gw: {
        npm: "@ai-sdk/openai-compatible",
        name: "Gateway",
        options: { baseURL: config.api_base, apiKey: `{env:${KEY_NAME}}` },
        models: { [model]: {} },
      },
    },
    model: `gw/${model}`,
    permission: PERMISSIONS,
  }
  return {
    argv: ["opencode", "acp"],
    package: "opencode-ai",
    env: {
      [KEY_NAME]: config.api_key,
      OPENCODE_CONFIG: file,
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    },
    files: { [file]: JSON.stringify(settings, null, 2) },
    firstFiles: withoutPluginPackage(home),
  }
}

function qwen(config: DaemonConfig): AgentSetup {
  return {
    argv: ["qwen", "--acp", "--auth-type", "openai", "--approval-mode", "default"],
    package: "@qwen-code/qwen-code",
    env: openaiEnv(config, modelOf(config)),
    files: {},
  }
}

/** Without settings, gemini sends usage statistics to its vendor and updates itself. */
const GEMINI_SETTINGS = {
  security: { auth: { selectedType: "gemini-api-key" } },
  general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
  privacy: { usageStatisticsEnabled: false },
}

function gemini(config: DaemonConfig, { home }: Where): AgentSetup {
  return {
    argv: ["gemini", "--acp", "--approval-mode", "default"],
    package: "@google/gemini-cli",
    env: {
      GEMINI_API_KEY: config.api_key,
      // It adds /v1beta itself.
      GOOGLE_GEMINI_BASE_URL: config.api_base.replace(/\/v1$/, ""),
      GEMINI_MODEL: modelOf(config),
      // It uses no MCP server in a folder that it does not trust.
      GEMINI_CLI_TRUST_WORKSPACE: "true",
    },
    files: { [path.join(home, ".gemini/settings.json")]: JSON.stringify(GEMINI_SETTINGS, null, 2) },
    titlesAreCommands: true,
  }
}

function codex(config: DaemonConfig, { home }: Where): AgentSetup {
  const codexHome = path.join(home, ".codex")
  const settings = [
    `model = ${JSON.stringify(modelOf(config))}`,
    'model_provider = "gw"',
    'approval_policy = "on-request"',
    "[model_providers.gw]",
    'name = "Gateway"',
    `base_url = ${JSON.stringify(config.api_base)}`,
    `env_key = "${KEY_NAME}"`,
    'wire_api = "responses"',
    "",
  ]
  return {
    argv: ["codex-acp"],
    package: "@agentclientprotocol/codex-acp",
    env: { [KEY_NAME]: config.api_key, CODEX_HOME: codexHome },
    files: { [path.join(codexHome, "config.toml")]: settings.join("\n") },
    // In its default mode a separate reviewer model decides instead of the user.
    sessionMode: "read-only",
  }
}

function claude(config: DaemonConfig): AgentSetup {
  const env = anthropicEnv(config, modelOf(config))
  return { argv: ["claude-agent-acp"], package: "@agentclientprotocol/claude-agent-acp", env, files: {} }
}

/** A custom command, which may have its own model. */
function custom(argv: readonly string[], config: DaemonConfig): AgentSetup {
  const model = config.model ?? undefined
  return {
    argv,
    env: { [KEY_NAME]: config.api_key, ...openaiEnv(config, model), ...anthropicEnv(config, model) },
    files: {},
  }
}

function openaiEnv(config: DaemonConfig, model: string | undefined): Record<string, string> {
  const env = { OPENAI_API_KEY: config.api_key, OPENAI_BASE_URL: config.api_base }
  return { ...env, ...(model !== undefined && { OPENAI_MODEL: model }) }
}

function anthropicEnv(config: DaemonConfig, model: string | undefined): Record<string, string> {
  return {
    // Its clients add /v1 themselves.
    ANTHROPIC_BASE_URL: config.api_base.replace(/\/v1$/, ""),
    ANTHROPIC_AUTH_TOKEN: config.api_key,
    // The last four: models for the agent's aliases of model sizes.
    ...(model !== undefined && {
      ANTHROPIC_MODEL: model,
      ANTHROPIC_DEFAULT_FABLE_MODEL: model,
      ANTHROPIC_DEFAULT_OPUS_MODEL: model,
      ANTHROPIC_DEFAULT_SONNET_MODEL: model,
      ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
    }),
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    DISABLE_TELEMETRY: "1",
  }
}

function modelOf({ model }: DaemonConfig): string {
  if (model !== null) return model
  throw new Error("This intern has no model. Set `model` on the intern, or INTERN_MODEL on the gateway.")
}

/** Variables of the daemon's environment that an agent needs. The join token is not among them. */
const PASSED = /^(PATH|LANG|LC_\w+|TZ|TERM|SHELL|USER|LOGNAME)$/

/** Environment of an agent: placeholders of secrets, which the agent's own settings override. */
export function environmentOf(
  current: NodeJS.ProcessEnv,
  { home }: Where,
  secrets: readonly { name: string; placeholder: string }[],
  ...set: readonly Record<string, string>[]
): Record<string, string> {
  const passed = Object.entries(current).flatMap(([name, value]) =>
    PASSED.test(name) && value !== undefined ? [[name, value] as const] : [],
  )
  return {
    ...Object.fromEntries(secrets.map(({ name, placeholder }) => [name.toUpperCase(), placeholder])),
    ...Object.fromEntries(passed),
    HOME: home,
    TMPDIR: path.join(home, "tmp"),
    XDG_CONFIG_HOME: path.join(home, ".config"),
    XDG_DATA_HOME: path.join(home, ".local/share"),
    XDG_STATE_HOME: path.join(home, ".local/state"),
    XDG_CACHE_HOME: path.join(home, ".cache"),
    ...Object.assign({}, ...set),
  }
}
