import type { Provider } from "../providers/provider.ts"
import { AnthropicBatches } from "./anthropic-batches.ts"
import { OpenAiBatches } from "./openai-batches.ts"
import type { ProviderBatches } from "./provider-batch.ts"

/** The batch API of a provider, for a batch of the gateway. */
export function batchesOf(provider: Provider, batchId: string): ProviderBatches {
  return provider.format === "anthropic"
    ? new AnthropicBatches(provider, batchId)
    : new OpenAiBatches(provider, batchId)
}
