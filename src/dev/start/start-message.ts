import type { Keys } from "../deploy/provision.ts"

type Server = { slug: string; name: string; models: readonly { id: string }[] }

export type StartFacts = {
  baseUrl: string
  keys: Keys
  /** File with the keys, as shown to the user. */
  envFile: string
  /** Model servers found on this machine. */
  servers: readonly Server[]
  /** One line for each provider that has a key. */
  providers: readonly string[]
  /** Names of variables that are set in the shell. */
  fromShell: readonly string[]
}

const NEXT_LINE = `\n${" ".repeat(19)}`

/** The message of `npm start` once calls succeed. */
export function startMessage({ baseUrl, keys, envFile, servers, providers, fromShell }: StartFacts): string {
  const local = servers[0]
  const model = local ? `${local.slug}/${local.models[0]?.id}` : "embedded/guide"
  const question = local ? "Say hello" : "How do I add my OpenAI key?"
  const body = `{"model":"${model}","messages":[{"role":"user","content":"${question}"}],"stream":true}`
  const found = servers.map(({ name, models }) => `${name} (${models.length} models)`).join(", ")
  return `
The gateway is ready.

  Console          ${new URL("/", baseUrl).href}
  Base URL         ${baseUrl}
  API key          ${keys.normal}
  Management key   ${keys.management}
  API reference    ${new URL("/docs", baseUrl).href}
  Models           ${baseUrl}/models${found && `\n  Found here       ${found}`}${providers.map((line) => `\n  Provider         ${line.replaceAll("\n", NEXT_LINE)}`).join("")}

  curl -N ${baseUrl}/chat/completions \\
    -H "Authorization: Bearer ${keys.normal}" \\
    -H "Content-Type: application/json" \\
    -d '${body}'

${fromShell.length > 0 ? `From your shell: ${fromShell.join(", ")}. .dev.vars takes precedence.\n` : ""}Keys are in ${envFile}, secrets in .dev.vars. Ctrl-C ends it.
`
}
