import type { ReleasedSecret } from "../vault/secret.ts"

const PATIENCE_MS = 15_000

const NOT_RUNNING = 409

/** Where the gateway has the intern, and the secrets that it is given now, in clear: for the proxy, in memory. */
export type Given = { status: "provisioning" | "running"; data: ReleasedSecret[] }

/** Undefined while the intern is not to run. Rejects without a word of an answer. */
export async function readSecrets(url: string, joinToken: string): Promise<Given | undefined> {
  const headers = { authorization: `Bearer ${joinToken}` }
  const response = await fetch(url, { headers, redirect: "manual", signal: AbortSignal.timeout(PATIENCE_MS) })
  if (response.ok) return (await response.json()) as Given
  await response.body?.cancel()
  if (response.status === NOT_RUNNING) return undefined
  throw new Error(`The gateway answered ${response.status} when it was asked for the secrets.`)
}
