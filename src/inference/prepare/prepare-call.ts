import { GatewayError } from "../../errors/errors.ts"
import type { ChatRequest } from "../../formats/schemas.ts"
import { chatRequest } from "../endpoints/chat/request.ts"
import { toolCharger } from "../agent/charge-tool-run.ts"
import type { Job } from "../agent/agent.ts"
import type { PreparedCall } from "../call.ts"
import { keptCallOf } from "../deferred/deferral.ts"
import type { Deps } from "../deps.ts"
import type { CallContext, InferenceRequest } from "../inference-request.ts"
import { applyGuardrails, type ScreenedCall, sizeInBytes } from "../screening/screen.ts"
import { needsPreparation, type Preparable } from "./needs.ts"
import { prepare } from "./prepare.ts"

type PreparedRequest = { kind: "call"; call: PreparedCall } | { kind: "agent"; job: Job }

/** Runs plugins and variants on a request. Server tools, and plugins that change the response, need an agent. */
export async function prepareCall<Body extends Preparable>(
  call: ScreenedCall<Body>,
  deps: Deps,
): Promise<PreparedRequest> {
  const { format, body, meta, caller, screening } = call
  const single = (request: InferenceRequest): PreparedRequest => ({
    kind: "call",
    call: { request: screening ? { ...request, screening } : request, meta, caller },
  })
  // Output guardrails read the chat format, so their calls use it upstream.
  const isFiltered = isReadAsChat(call, deps)
  if (!needsPreparation(body, deps, isFiltered ? () => false : format.isNativeTo)) {
    return single(isFiltered ? inChatFormat(call) : format.toRequest(body, call.bodyBytes))
  }
  if (deps.deferral) {
    const rule = "A request with plugins, server tools or variants cannot be in a batch of a provider."
    throw new GatewayError("invalid_request", `${rule} Create the batch without provider.`)
  }
  const asChat = format.toChat(body)
  const chargeToolRun = toolCharger(asChat, { meta, caller }, deps)
  const prepared = await prepare(asChat, { deps, chargeToolRun, caller, region: meta.region })
  const { preparation, tools, annotations, heals } = prepared
  if (tools.length > 0 || annotations.length > 0 || heals) {
    const { max_tool_calls: maxSteps } = body
    const job: Job = {
      prepared,
      meta,
      caller,
      ...(screening && { screening }),
      emitsToolItems: format.emitsToolItems,
      maxSteps: typeof maxSteps === "number" ? maxSteps : undefined,
      // The rounds already return the upstream request.
      encoderFor: (context) => format.encoderFor({ ...body, debug: undefined }, context),
    }
    return { kind: "agent", job }
  }
  // Plugins add text from outside, such as search results and files.
  const chat = await applyGuardrails(prepared.chat, screening, meta)
  const encoderFor = (context: CallContext) => format.encoderFor(body, context)
  return single({ ...chatRequest(chat, sizeInBytes(chat)), preparation, encoderFor })
}

/** Whether the upstream request is in the chat format because of output guardrails. */
function isReadAsChat<Body extends Preparable>({ format, screening }: ScreenedCall<Body>, { deferral }: Deps): boolean {
  const isRead = screening?.readsOutput === true && !format.isReadAsChat
  if (deferral && "keep" in deferral && isRead) deferral.keep({ isReadAsChat: true })
  const kept = keptCallOf(deferral)
  if (!kept) return isRead
  if (!isRead || kept.isReadAsChat) return kept.isReadAsChat === true
  throw new GatewayError(
    "forbidden",
    "A guardrail that reads responses applies since this request was sent, and it cannot read this response. Repeat the request.",
    { metadata: { reason: "guardrail" } },
  )
}

function inChatFormat<Body extends Preparable>({ format, body }: ScreenedCall<Body>): InferenceRequest {
  const chat: ChatRequest = format.toChat(body)
  return { ...chatRequest(chat, sizeInBytes(chat)), encoderFor: (context) => format.encoderFor(body, context) }
}
