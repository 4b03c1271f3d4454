import { readFileSync } from "node:fs"
import path from "node:path"
import { parseArgs } from "node:util"

export type Options = {
  /** URL of the gateway: `https://gateway.example.com`. */
  url: URL
  internId: string
  joinToken: string
  /** One of the known agents, or a command with its arguments. */
  agent: string[]
  dir: string
  archiveDir: string | undefined
  /** Allowed hosts, in addition to the gateway and the hosts of secrets; undefined for all public hosts. */
  allowedHosts: string[] | undefined
  /** User id of the agent's process, if the daemon may change it. */
  agentUid: number | undefined
  /** ACP session mode of a command that is not a known agent. */
  sessionMode: string | undefined
  /** ACP authentication method, for an agent that requires one. */
  authMethod: string | undefined
}

export const USAGE = `npm run daemon -- --url <gateway> --intern <id> --token-file <file> --agent <agent>
  --url           the gateway: https://gateway.example.com      (INTERN_GATEWAY_URL)
  --intern        the intern's id                               (INTERN_ID)
  --token-file    a file with its join token                    (INTERN_JOIN_TOKEN_FILE, or INTERN_JOIN_TOKEN)
  --token-stdin   reads the join token from the standard input
  --agent         opencode, qwen, gemini, codex, claude, or any command that speaks ACP: --agent "node agent.js"  (INTERN_AGENT)
  --dir           working folder of the agent; default ./intern-<id> (INTERN_DIR)
  --archive-dir   where its folder is archived when it is destroyed; default: nowhere  (INTERN_ARCHIVE_DIR)
  --allow-hosts   a.example.com,b.example.com: allow only these; default: every public host  (INTERN_ALLOW_HOSTS)
  --agent-uid     the user that the agent runs as (needs root)  (INTERN_AGENT_UID)
  --session-mode  ACP mode of each new session, if the agent does not ask for permission in its default mode  (INTERN_SESSION_MODE)
  --auth-method   ACP authentication method, if the agent requires one  (INTERN_AUTH_METHOD)
Exits with 3 if the join token is rejected or revoked, with 2 if an option is missing.`

const NAMES = {
  url: "INTERN_GATEWAY_URL",
  intern: "INTERN_ID",
  "token-file": "INTERN_JOIN_TOKEN_FILE",
  agent: "INTERN_AGENT",
  dir: "INTERN_DIR",
  "archive-dir": "INTERN_ARCHIVE_DIR",
  "allow-hosts": "INTERN_ALLOW_HOSTS",
  "agent-uid": "INTERN_AGENT_UID",
  "session-mode": "INTERN_SESSION_MODE",
  "auth-method": "INTERN_AUTH_METHOD",
} as const
type Name = keyof typeof NAMES

const TOKEN_NAME = "INTERN_JOIN_TOKEN"
const ON_COMMAND_LINE =
  "--token: a command line can be read by every user of this machine. Use --token-file FILE, --token-stdin or " +
  `the environment variable ${TOKEN_NAME}, and create a new token: this one may be exposed.`

/** Reads options from the command line or else from the environment. Throws an error that names missing ones. */
export function readOptions(
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
  readStdin: () => string = () => readFileSync(0, "utf8"),
): Options {
  if (argv.some((argument) => argument === "--token" || argument.startsWith("--token=")))
    throw new Error(ON_COMMAND_LINE)
  const definitions = Object.keys(NAMES).map((name) => [name, { type: "string" as const }] as const)
  const options: Record<string, { type: "string" | "boolean" }> = {
    ...Object.fromEntries(definitions),
    "token-stdin": { type: "boolean" },
  }
  const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true })
  const read = (name: Name): string | undefined => {
    const value = values[name] ?? env[NAMES[name]]
    return typeof value === "string" && value !== "" ? value : undefined
  }
  const need = (name: Name): string => {
    const value = read(name)
    if (value === undefined) throw new Error(`--${name} is missing.`)
    return value
  }
  const internId = need("intern")
  const uid = read("agent-uid")
  return {
    url: gatewayUrl(need("url")),
    internId,
    joinToken: tokenOf(
      values["token-stdin"] === true ? readStdin() : (fromFile(read("token-file")) ?? env[TOKEN_NAME]),
    ),
    agent: [...need("agent").split(" ").filter(Boolean), ...positionals],
    dir: path.resolve(read("dir") ?? `intern-${internId}`),
    archiveDir: read("archive-dir"),
    allowedHosts: read("allow-hosts")
      ?.split(",")
      .map((host) => host.trim().toLowerCase())
      .filter(Boolean),
    agentUid: uid === undefined ? undefined : userId(uid),
    sessionMode: read("session-mode"),
    authMethod: read("auth-method"),
  }
}

function fromFile(file: string | undefined): string | undefined {
  return file === undefined ? undefined : readFileSync(file, "utf8")
}

function tokenOf(text: string | undefined): string {
  const token = text?.trim() ?? ""
  if (token !== "") return token
  throw new Error(`The join token is missing: use --token-file FILE, --token-stdin or ${TOKEN_NAME}.`)
}

function gatewayUrl(text: string): URL {
  const url = URL.parse(text)
  if (url?.protocol === "https:" || url?.protocol === "http:") return new URL(url.origin)
  throw new Error("--url must be the URL of the gateway: https://gateway.example.com")
}

function userId(text: string): number {
  const uid = Number(text)
  if (Number.isSafeInteger(uid) && uid > 0) return uid
  throw new Error("--agent-uid must be the number of a user that is not root.")
}
