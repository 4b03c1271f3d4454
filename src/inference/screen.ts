import type { Caller } from "../policy/call-policy.ts"
import { GatewayError } from "../errors/errors.ts"
import { type Screening, screeningOf } from "../guardrails/screening.ts"
import type { InferenceRequest } from "./inference-request.ts"
import { unroutable } from "../routing/metadata.ts"
import { callUpstream } from "./serve.ts"
import type { RequestMeta, Deps } from "./deps.ts"

/** What the content filters of the caller do to this call; undefined for a caller who has none. */
export function screeningFor(caller: Caller, meta: RequestMeta): Screening | undefined {
  return caller.guardrails ? screeningOf(caller.guardrails, meta.wantsMetadata) : undefined
}

type Named = { model?: string | undefined; models?: readonly string[] | null | undefined }

/** The request as it may go on. A refusal is told with what was found, where that was asked. */
export async function screened<Request extends object>(
  request: Request,
  screening: Screening | undefined,
  meta: RequestMeta,
): Promise<Request> {
  if (!screening) return request
  try {
    return await screening.request(request)
  } catch (refusal) {
    if (!(refusal instanceof GatewayError) || !meta.wantsMetadata) throw refusal
    const { code, message, metadata } = refusal
    const { model, models } = request as Named
    const told = unroutable(model ?? models?.[0] ?? "", meta.region, message, screening.stages())
    throw new GatewayError(code, message, { ...(metadata && { metadata }), extraFields: told })
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
export async function handlePlain<Request extends object>(
  request: Request,
  toRequest: (request: Request) => InferenceRequest,
  meta: RequestMeta,
  caller: Caller,
  deps: Deps,
): Promise<Response> {
  const screening = screeningFor(caller, meta)
  const normalized = toRequest(await screened(request, screening, meta))
  return callUpstream(screening ? { ...normalized, screening } : normalized, meta, caller, deps)
}
