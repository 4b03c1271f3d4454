import type { Env } from "../config/env.ts"
import { masterKeysOf } from "../secrets/master-key.ts"
import { openSealed } from "../secrets/workspace-key.ts"
import { parseStored } from "../support/text/json.ts"
import { secretsAad, type ServiceSecrets } from "./service.ts"
import type { KeyedService } from "./store.ts"

/** The decrypted secrets of a service; undefined if they cannot be decrypted, which is logged. */
export async function openSecrets({ row, dataKey }: KeyedService, env: Env): Promise<ServiceSecrets | undefined> {
  const plain = await openSealed({ aad: secretsAad(row), sealed: row.sealed, dataKey }, masterKeysOf(env))
  return plain === undefined ? undefined : parseStored<ServiceSecrets>(plain)
}
