import type { Keys } from "./provision.ts"

type Server = { name: string; models: readonly unknown[] }

/** What `npm start` prints once calls succeed. */
export function greet(baseUrl: string, keys: Keys, servers: readonly Server[]): string {
  const body = `{"model":"sim/echo","messages":[{"role":"user","content":"Hello"}],"stream":true}`
  const found = servers.map(({ name, models }) => `${name} (${models.length} models)`).join(", ")
  return `
The gateway is ready.

  Console          ${new URL("/", baseUrl).href}
  Base URL         ${baseUrl}
  API key          ${keys.normal}
  Management key   ${keys.management}
  API document     ${baseUrl}/openapi.json
  Models           ${baseUrl}/models${found && `\n  Found here       ${found}`}

  curl -N ${baseUrl}/chat/completions \\
    -H "Authorization: Bearer ${keys.normal}" \\
    -H "Content-Type: application/json" \\
    -d '${body}'

Keys are in .dev.env, secrets in .dev.vars. Ctrl-C ends it.
`
}
