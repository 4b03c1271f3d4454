import type { ProviderBatches } from "../../src/batches/providers/provider-batch.ts"
import type { BatchRow } from "../../src/batches/table.ts"
import type { ByokCredential } from "../../src/byok/usable-credentials.ts"
import type { Env } from "../../src/config/env.ts"
import type { LineStore } from "./lines.ts"
import type { PartStore } from "./parts.ts"

export type AdvanceDeps = {
  lines: LineStore
  /** Parts of a batch whose requests run in provider batches. */
  parts: () => PartStore
  env: Env
  executionCtx: ExecutionContext
  /** The object was woken, so that nothing waits for its scheduled time. */
  isUrgent: boolean
  /** True if the row of the batch was changed: it is read again before another line starts. */
  isWoken: () => boolean
}

/** Dependencies for a batch whose requests run in provider batches. */
export type ProviderDeps = Omit<AdvanceDeps, "parts"> & {
  row: BatchRow
  parts: PartStore
  provider: string
}

/** `credential`: the BYOK credential whose key `batches` sends; undefined for the gateway's key. */
export type SubmittingDeps = ProviderDeps & { batches: ProviderBatches; credential: ByokCredential | undefined }
