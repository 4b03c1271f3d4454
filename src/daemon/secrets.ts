import type { ReleasedSecret } from "../vault/secret.ts"

const PATIENCE_MS = 15_000

/** The secrets that the intern is given now, in clear: for the proxy, in memory. Rejects without a word of an answer. */
export async function readSecrets(url: string, joinToken: string): Promise<ReleasedSecret[]> {
  const headers = { authorization: `Bearer ${joinToken}` }
  const response = await fetch(url, { headers, redirect: "manual", signal: AbortSignal.timeout(PATIENCE_MS) })
  if (!response.ok) {
    await response.body?.cancel()
    throw new Error(`The gateway answered ${response.status} when it was asked for the secrets.`)
  }
  const { data } = (await response.json()) as { data: ReleasedSecret[] }
  return data
}
