import { countTokens } from "./choice.ts"
import type { Completion } from "./completion.ts"
import { portalPage } from "./faults.ts"
import { documentSteps, PACE_MS, play, sleep, streamSteps } from "./stream.ts"
import type { CompletionEncoder } from "./formats/encoder.ts"

const SLOW_MS = 6_000

/** The response with a completion, with the fault of its model. */
export async function reply(
  completion: Completion,
  encoder: CompletionEncoder,
  signal: AbortSignal,
): Promise<Response> {
  await sleep(delayMs(completion), signal)
  const { request, fault } = completion
  if (fault.instead === "page") return new Response(portalPage, { headers: { "content-type": "text/html" } })
  const headers = request.stream
    ? { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" }
    : { "content-type": "application/json" }
  if (fault.instead === "nothing") return new Response(request.stream ? play([].values(), signal) : "", { headers })
  if (request.stream) return new Response(play(streamSteps(completion, encoder), signal), { headers })
  if (fault.instead === "error" || fault.afterTen === "error") return encoder.failed()
  const document = encoder.document()
  if (!fault.split && !fault.afterTen) return Response.json(document)
  return new Response(play(documentSteps(JSON.stringify(document), fault), signal), { headers })
}

/** Delay of the headers: a JSON response arrives when the last token of a stream would. */
function delayMs({ request, choices }: Completion): number {
  if (request.model === "slow") return SLOW_MS
  if (request.model !== "paced" || request.stream) return 0
  return PACE_MS * countTokens(choices[0]?.parts ?? [])
}
