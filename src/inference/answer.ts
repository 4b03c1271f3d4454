import type { Caller } from "../access/caller.ts"
import { paying } from "./agent/pay.ts"
import { serveAgent } from "./agent/serve-agent.ts"
import { chatIntake } from "./chat/intake.ts"
import type { CallState } from "./intake.ts"
import { withDefaults } from "./defaults.ts"
import { needsPreparation, type Preparable } from "./prepare/needs.ts"
import { prepare } from "./prepare/prepare.ts"
import { serve } from "./serve.ts"
import { requireLive } from "../presets/preset.ts"
import { presetOf, withPreset } from "./presets/apply.ts"
import type { Surface } from "./surface.ts"
import type { Arrival, World } from "./world.ts"

/** Answers a request of a conversation: straight on the road, or first prepared where it asks for the gateway's own work. */
export async function answer<Request extends Preparable>(
  surface: Surface<Request>,
  sent: Request,
  bodyBytes: number,
  arrival: Arrival,
  caller: Caller,
  world: World,
): Promise<Response> {
  const { defaults } = caller
  const reference = presetOf(sent)
  const preset = reference && requireLive(reference.slug, await world.presetOf(reference.slug))
  const asked = preset ? withPreset(surface, reference.request, preset) : sent
  const request = withDefaults(asked, defaults)
  if (!needsPreparation(request, world, surface.isSpokenBy)) {
    return serve(surface.intakeOf(request, bodyBytes + (preset?.bytes ?? 0)), arrival, caller, world)
  }
  const prepared = await prepare(surface.toChat(request), world, paying(arrival, caller, world), defaults)
  const { chat, preparation, tools, annotations, heals } = prepared
  if (tools.length > 0 || annotations.length > 0 || heals) {
    const { max_tool_calls: maxSteps } = request
    const job = {
      prepared,
      tellsItems: surface.tellsItems,
      maxSteps: typeof maxSteps === "number" ? maxSteps : undefined,
      // What went upstream is told by the rounds.
      dialectOf: (call: CallState) => surface.dialectOf({ ...request, debug: undefined }, call),
    }
    return serveAgent(job, arrival, caller, world)
  }
  const bytes = new TextEncoder().encode(JSON.stringify(chat)).byteLength
  const intake = chatIntake(chat, bytes)
  const dialectOf = (call: CallState) => surface.dialectOf(request, call)
  return serve({ ...intake, preparation, dialectOf }, arrival, caller, world)
}
