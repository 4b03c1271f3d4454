import type { Env } from "../config/env.ts"
import { mastersOf } from "../secrets/master-key.ts"
import { openSealed } from "../secrets/workspace-key.ts"
import { parseStored } from "../support/json.ts"
import { aboutSecrets, type ServiceSecrets } from "./service.ts"
import type { KeyedService } from "./store.ts"

/** The decrypted secrets of a service; undefined if they cannot be decrypted, which is logged. */
export async function openSecrets({ row, dataKey }: KeyedService, env: Env): Promise<ServiceSecrets | undefined> {
  const plain = await openSealed({ about: aboutSecrets(row), sealed: row.sealed, dataKey }, mastersOf(env))
  return plain === undefined ? undefined : parseStored<ServiceSecrets>(plain)
}
