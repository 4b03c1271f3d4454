import type { Caller } from "../policy/call-policy.ts"
import { toolCharger } from "./agent/charge-tool-run.ts"
import { runAgent } from "./agent/serve-agent.ts"
import { chatRequest } from "./endpoints/chat/request.ts"
import type { CallContext, InferenceRequest } from "./inference-request.ts"
import { withDefaults } from "./defaults.ts"
import { needsPreparation, type Preparable } from "./prepare/needs.ts"
import { prepare } from "./prepare/prepare.ts"
import { screened, screeningFor, sizeInBytes, sizeOf } from "./screen.ts"
import { callUpstream } from "./serve.ts"
import { requireActive } from "../presets/preset.ts"
import { presetOf, withPreset } from "./presets/apply.ts"
import type { ApiFormat } from "./endpoints/api-format.ts"
import type { RequestMeta, Deps } from "./deps.ts"

/** Answers a request of a conversation: straight on the road, or first prepared where it asks for the gateway's own work. */
export async function handleInference<Request extends Preparable>(
  surface: ApiFormat<Request>,
  sent: Request,
  bodyBytes: number,
  received: RequestMeta,
  caller: Caller,
  deps: Deps,
): Promise<Response> {
  const reference = presetOf(sent)
  const preset = reference && requireActive(reference.slug, await deps.presetOf(reference.slug))
  const meta = preset ? { ...received, presetId: preset.id } : received
  const screening = screeningFor(caller, meta)
  const asked = withDefaults(preset ? withPreset(surface, reference.request, preset) : sent, caller.defaults)
  const request = await screened(asked, screening, meta)
  // Answers that are read come on the chat wire, whoever gives them: it is the one that the filters know.
  const isRead = screening?.readsAnswers === true
  if (!needsPreparation(request, deps, isRead ? () => false : surface.isNativeTo)) {
    const bytes = bodyBytes + (preset?.bytes ?? 0)
    const normalized = isRead
      ? chatRequestOf(surface, request)
      : surface.toRequest(request, sizeOf(request, asked, bytes))
    return callUpstream(screening ? { ...normalized, screening } : normalized, meta, caller, deps)
  }
  const asChat = surface.toChat(request)
  const pay = toolCharger(asChat, meta, caller, deps)
  const prepared = await prepare(asChat, deps, pay, caller, meta.region)
  const { preparation, tools, annotations, heals } = prepared
  if (tools.length > 0 || annotations.length > 0 || heals) {
    const { max_tool_calls: maxSteps } = request
    const job = {
      prepared,
      ...(screening && { screening }),
      tellsItems: surface.emitsToolItems,
      maxSteps: typeof maxSteps === "number" ? maxSteps : undefined,
      // What went upstream is told by the rounds.
      encoderFor: (call: CallContext) => surface.encoderFor({ ...request, debug: undefined }, call),
    }
    return runAgent(job, meta, caller, deps)
  }
  // Plugins bring words of others along.
  const chat = await screened(prepared.chat, screening, meta)
  const encoderFor = (call: CallContext) => surface.encoderFor(request, call)
  const normalized = { ...chatRequest(chat, sizeInBytes(chat)), preparation, encoderFor }
  return callUpstream(screening ? { ...normalized, screening } : normalized, meta, caller, deps)
}

function chatRequestOf<Request>(surface: ApiFormat<Request>, request: Request): InferenceRequest {
  const chat = surface.toChat(request)
  return { ...chatRequest(chat, sizeInBytes(chat)), encoderFor: (call) => surface.encoderFor(request, call) }
}
