import type { Env } from "../config/env.ts"
import { masterKeysOf } from "../secrets/master-key.ts"
import { openSealed } from "../secrets/workspace-key.ts"
import { parseStored } from "../support/text/json.ts"
import { headersAad, type McpHeaders } from "./server.ts"
import type { KeyedServer } from "./store.ts"

/** The decrypted headers of a server; undefined if they cannot be decrypted, which is logged. */
export async function openHeaders({ row, dataKey }: KeyedServer, env: Env): Promise<McpHeaders | undefined> {
  const plain = await openSealed({ aad: headersAad(row), sealed: row.sealed, dataKey }, masterKeysOf(env))
  return plain === undefined ? undefined : parseStored<McpHeaders>(plain)
}
