import type { Caller } from "../policy/call-policy.ts"
import { paying } from "./agent/charge-tool-run.ts"
import { serveAgent } from "./agent/serve-agent.ts"
import { chatIntake } from "./endpoints/chat/request.ts"
import type { CallState, Intake } from "./inference-request.ts"
import { withDefaults } from "./defaults.ts"
import { needsPreparation, type Preparable } from "./prepare/needs.ts"
import { prepare } from "./prepare/prepare.ts"
import { screened, screeningFor, sizeInBytes, sizeOf } from "./screen.ts"
import { serve } from "./serve.ts"
import { requireLive } from "../presets/preset.ts"
import { presetOf, withPreset } from "./presets/apply.ts"
import type { Surface } from "./endpoints/api-format.ts"
import type { Arrival, World } from "./deps.ts"

/** Answers a request of a conversation: straight on the road, or first prepared where it asks for the gateway's own work. */
export async function answer<Request extends Preparable>(
  surface: Surface<Request>,
  sent: Request,
  bodyBytes: number,
  arrived: Arrival,
  caller: Caller,
  world: World,
): Promise<Response> {
  const reference = presetOf(sent)
  const preset = reference && requireLive(reference.slug, await world.presetOf(reference.slug))
  const arrival = preset ? { ...arrived, presetId: preset.id } : arrived
  const screening = screeningFor(caller, arrival)
  const asked = withDefaults(preset ? withPreset(surface, reference.request, preset) : sent, caller.defaults)
  const request = await screened(asked, screening, arrival)
  // Answers that are read come on the chat wire, whoever gives them: it is the one that the filters know.
  const isRead = screening?.readsAnswers === true
  if (!needsPreparation(request, world, isRead ? () => false : surface.isSpokenBy)) {
    const bytes = bodyBytes + (preset?.bytes ?? 0)
    const intake = isRead ? chatIntakeOf(surface, request) : surface.intakeOf(request, sizeOf(request, asked, bytes))
    return serve(screening ? { ...intake, screening } : intake, arrival, caller, world)
  }
  const asChat = surface.toChat(request)
  const pay = paying(asChat, arrival, caller, world)
  const prepared = await prepare(asChat, world, pay, caller, arrival.region)
  const { preparation, tools, annotations, heals } = prepared
  if (tools.length > 0 || annotations.length > 0 || heals) {
    const { max_tool_calls: maxSteps } = request
    const job = {
      prepared,
      ...(screening && { screening }),
      tellsItems: surface.tellsItems,
      maxSteps: typeof maxSteps === "number" ? maxSteps : undefined,
      // What went upstream is told by the rounds.
      dialectOf: (call: CallState) => surface.dialectOf({ ...request, debug: undefined }, call),
    }
    return serveAgent(job, arrival, caller, world)
  }
  // Plugins bring words of others along.
  const chat = await screened(prepared.chat, screening, arrival)
  const dialectOf = (call: CallState) => surface.dialectOf(request, call)
  const intake = { ...chatIntake(chat, sizeInBytes(chat)), preparation, dialectOf }
  return serve(screening ? { ...intake, screening } : intake, arrival, caller, world)
}

function chatIntakeOf<Request>(surface: Surface<Request>, request: Request): Intake {
  const chat = surface.toChat(request)
  return { ...chatIntake(chat, sizeInBytes(chat)), dialectOf: (call) => surface.dialectOf(request, call) }
}
