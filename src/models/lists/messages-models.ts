import { GatewayError } from "../../errors/errors.ts"
import { toTimestamp } from "../../support/time/time.ts"
import type { MessagesModel, MessagesModelList, Model, ModelList } from "../schemas.ts"

/** Clients of Anthropic's API send this header with every request. */
export const MESSAGES_HEADER = "anthropic-version"

export function toMessagesModel(model: Model): MessagesModel {
  return {
    ...model,
    type: "model",
    display_name: model.name,
    created_at: toTimestamp(model.created * 1_000),
    max_input_tokens: model.context_length,
    max_tokens: model.top_provider.max_completion_tokens,
    lifecycle: "active",
    line: null,
    capabilities: null,
    deprecated_at: null,
    retires_at: null,
  }
}

type Cursor = { limit?: number | undefined; after_id?: string | undefined; before_id?: string | undefined }

/** A page after or before a model, in the order of the list. Without a limit, all of them. */
export function toMessagesList(
  all: ModelList,
  { limit, after_id: after, before_id: before }: Cursor,
): MessagesModelList {
  const size = limit ?? all.data.length
  const end = before === undefined ? all.data.length : positionOf(all, "before_id", before)
  const from = after === undefined ? 0 : positionOf(all, "after_id", after) + 1
  const found = all.data.slice(from, end)
  const data = (before === undefined ? found.slice(0, size) : found.slice(-size)).map(toMessagesModel)
  const [first_id, last_id] = [data[0]?.id ?? null, data.at(-1)?.id ?? null]
  return { ...all, data, first_id, last_id, has_more: data.length < found.length }
}

function positionOf({ data }: ModelList, field: string, id: string): number {
  const at = data.findIndex((model) => model.id === id)
  if (at < 0) throw new GatewayError("invalid_request", `${field}: must be the id of a model of this list.`)
  return at
}
