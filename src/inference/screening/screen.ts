import { GatewayError } from "../../errors/errors.ts"
import type { Screening } from "../../guardrails/screening.ts"
import { screeningOf } from "../../guardrails/create-screening.ts"
import { unroutableFields } from "../../routing/metadata.ts"
import type { InferenceCall, PreparedCall } from "../call.ts"
import type { InferenceRequest } from "../inference-request.ts"
import type { RequestMeta } from "../deps.ts"
import type { Json } from "../../support/text/json.ts"
import type { PipelineStage } from "../../formats/pipeline-stage.ts"
import { withStages } from "./stages.ts"

/** A request after the input guardrails. `screening` is absent if none applies. */
export type ScreenedCall<Body extends object> = InferenceCall<Body> & { screening?: Screening }

export type UnscreenedCall<Body extends object> = Pick<InferenceCall<Body>, "body" | "meta" | "caller">

/** Step 2: the input guardrails of the key block the request or redact it. */
export async function screenInput<Body extends object>(call: InferenceCall<Body>): Promise<ScreenedCall<Body>> {
  const screening = screeningFor(call)
  if (!screening) return call
  const body = await applyGuardrails(call.body, screening, call.meta)
  return { ...call, body, bodyBytes: sizeAfter(body, call.body, call.bodyBytes), screening }
}

/** Steps 1 and 2 for a request without presets and tools. */
export async function screenPlain<Body extends object>(
  call: UnscreenedCall<Body>,
  toRequest: (body: Body) => InferenceRequest,
): Promise<PreparedCall> {
  const { body, meta, caller } = call
  const screening = screeningFor(call)
  if (!screening) return { request: toRequest(body), meta, caller }
  return { request: { ...toRequest(await applyGuardrails(body, screening, meta)), screening }, meta, caller }
}

function screeningFor({ caller, meta }: Pick<InferenceCall<object>, "caller" | "meta">): Screening | undefined {
  return caller.guardrails ? screeningOf(caller.guardrails, meta) : undefined
}

type Named = { model?: string | undefined; models?: readonly string[] | null | undefined }

/** The body after the guardrails. The error of a block names the matching guardrails if metadata was requested. */
export async function applyGuardrails<Body extends object>(
  body: Body,
  screening: Screening | undefined,
  meta: RequestMeta,
): Promise<Body> {
  if (!screening) return body
  return await screening.request(body).catch(rethrowWithStages(screening, body, meta))
}

/** The result of a server tool or plugin after the guardrails. Rejects like `applyGuardrails`. */
export async function screenToolResult<Result extends Json>(
  result: Result,
  screening: Screening | undefined,
  identity: Named,
  meta: RequestMeta,
): Promise<Result> {
  if (!screening) return result
  return await screening.toolResult(result).catch(rethrowWithStages(screening, identity, meta))
}

function rethrowWithStages(screening: Screening, identity: Named, meta: RequestMeta) {
  return (rejection: unknown): never => {
    throw rejection instanceof GatewayError
      ? withScreeningStages(rejection, screening.stages(), identity, meta)
      : rejection
  }
}

/** Adds the stages to a rejection, for the record of the call and for clients that requested metadata. */
export function withScreeningStages(
  rejection: GatewayError,
  stages: readonly PipelineStage[],
  { model, models }: Named,
  { wantsMetadata, region }: RequestMeta,
): GatewayError {
  const slug = model ?? models?.[0] ?? ""
  const about = { summary: rejection.message, pipeline: stages }
  return withStages(rejection, stages, wantsMetadata ? unroutableFields(slug, region, about) : undefined)
}

/** Bytes of a body after a step that may change it: a redaction can be longer than the text it replaces. */
export function sizeAfter(body: object, before: object, bytesBefore: number): number {
  return body === before ? bytesBefore : Math.max(bytesBefore, sizeInBytes(body))
}

export function sizeInBytes(body: object): number {
  return new TextEncoder().encode(JSON.stringify(body)).byteLength
}
