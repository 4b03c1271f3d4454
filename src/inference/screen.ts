import type { Caller } from "../policy/call-policy.ts"
import { GatewayError } from "../errors/errors.ts"
import { type Screening, screeningOf } from "../guardrails/screening.ts"
import type { Intake } from "./inference-request.ts"
import { unroutable } from "../routing/metadata.ts"
import { serve } from "./serve.ts"
import type { Arrival, World } from "./deps.ts"

/** What the content filters of the caller do to this call; undefined for a caller who has none. */
export function screeningFor(caller: Caller, arrival: Arrival): Screening | undefined {
  return caller.guardrails ? screeningOf(caller.guardrails, arrival.wantsMetadata) : undefined
}

type Named = { model?: string | undefined; models?: readonly string[] | null | undefined }

/** The request as it may go on. A refusal is told with what was found, where that was asked. */
export async function screened<Request extends object>(
  request: Request,
  screening: Screening | undefined,
  arrival: Arrival,
): Promise<Request> {
  if (!screening) return request
  try {
    return await screening.request(request)
  } catch (refusal) {
    if (!(refusal instanceof GatewayError) || !arrival.wantsMetadata) throw refusal
    const { code, message, metadata } = refusal
    const { model, models } = request as Named
    const told = unroutable(model ?? models?.[0] ?? "", arrival.region, message, screening.stages())
    throw new GatewayError(code, message, { ...(metadata && { metadata }), beside: told })
  }
}

/** The bytes of a request of which so many came: what stands in the place of what was redacted can be longer. */
export function sizeOf(request: object, asked: object, bodyBytes: number): number {
  return request === asked ? bodyBytes : Math.max(bodyBytes, sizeInBytes(request))
}

export function sizeInBytes(request: object): number {
  return new TextEncoder().encode(JSON.stringify(request)).byteLength
}

/** Serves a request that is answered as it is, once the content filters of the caller have read it. */
export async function serveScreened<Request extends object>(
  request: Request,
  toIntake: (request: Request) => Intake,
  arrival: Arrival,
  caller: Caller,
  world: World,
): Promise<Response> {
  const screening = screeningFor(caller, arrival)
  const intake = toIntake(await screened(request, screening, arrival))
  return serve(screening ? { ...intake, screening } : intake, arrival, caller, world)
}
