import * as z from "zod"
import { estimatePromptTokens, estimateTokens } from "../../../support/tokens.ts"
import { Message, TextBlock } from "../../../formats/messages/block-schemas.ts"
import { toMessages } from "../../../formats/messages/messages.ts"

export const CountRequest = z
  .looseObject({
    model: z.string({ error: "is required: author/slug, as GET /models lists" }).min(1).max(256),
    messages: z.array(Message, { error: "must be an array of messages" }).min(1, "must have at least 1 message"),
    system: z
      .union([z.string(), z.array(TextBlock)], { error: "must be a string or an array of text blocks" })
      .nullish(),
    tools: z.array(z.unknown(), { error: "must be an array of tools" }).nullish(),
  })
  .meta({ id: "MessagesCountRequest" })
type CountRequest = z.infer<typeof CountRequest>

export const CountResult = z.object({ input_tokens: z.int() }).meta({ id: "MessagesCount" })

/** Estimates the tokens: only the provider can count exactly, in a paid call. */
export function countOf(request: CountRequest): number {
  const messages = toMessages(request)
  return estimatePromptTokens(messages) + (request.tools ? estimateTokens(JSON.stringify(request.tools)) : 0)
}
