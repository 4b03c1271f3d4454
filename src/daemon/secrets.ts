import type { VisibleSecret } from "../vault/secret.ts"

const TIMEOUT_MS = 15_000

const NOT_RUNNING = 409

/** Status of the intern, and placeholders of the secrets that its agent may use. Values stay in the gateway. */
export type SecretsResponse = { status: "provisioning" | "running"; data: VisibleSecret[] }

/** Undefined while the intern should not run. Rejects without quoting the response. */
export async function readSecrets(url: string, joinToken: string): Promise<SecretsResponse | undefined> {
  const headers = { authorization: `Bearer ${joinToken}` }
  const response = await fetch(url, { headers, redirect: "manual", signal: AbortSignal.timeout(TIMEOUT_MS) })
  if (response.ok) return (await response.json()) as SecretsResponse
  await response.body?.cancel()
  if (response.status === NOT_RUNNING) return undefined
  throw new Error(`The gateway returned ${response.status} for the secrets.`)
}
