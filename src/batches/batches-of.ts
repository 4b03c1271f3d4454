import { betaHeaders, betasIn } from "../formats/messages/betas.ts"
import { AnthropicBatches } from "./providers/anthropic-batches.ts"
import { pathOfEndpoint } from "./batch.ts"
import { MESSAGES_ENDPOINT } from "./messages/message-batch.ts"
import { OpenAiBatches } from "./providers/openai-batches.ts"
import type { ProviderBatches } from "./providers/provider-batch.ts"
import type { BatchAccount } from "./providers/provider-client.ts"
import type { BatchRow } from "./table.ts"

/** The batch API of a provider, for a batch of the gateway. */
export function batchesOf(account: BatchAccount, { id, endpoint, origin }: BatchRow): ProviderBatches {
  if (account.provider.format !== "anthropic") return new OpenAiBatches(account, id)
  // As in calls, beta features are those of Messages requests.
  const isMessages = pathOfEndpoint(endpoint) === pathOfEndpoint(MESSAGES_ENDPOINT)
  const betas = isMessages ? betaHeaders(betasIn(origin.headers["anthropic-beta"])) : {}
  return new AnthropicBatches(account, id, betas)
}
