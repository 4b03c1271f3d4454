import { AnthropicBatches } from "./anthropic-batches.ts"
import { OpenAiBatches } from "./openai-batches.ts"
import type { ProviderBatches } from "./provider-batch.ts"
import type { BatchAccount } from "./provider-client.ts"

/** The batch API of a provider, for a batch of the gateway. */
export function batchesOf(account: BatchAccount, batchId: string): ProviderBatches {
  return account.provider.format === "anthropic"
    ? new AnthropicBatches(account, batchId)
    : new OpenAiBatches(account, batchId)
}
