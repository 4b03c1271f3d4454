import { type Json, objectsOf } from "../../support/text/json.ts"
import { DispatchAbort } from "../upstream/dispatch-abort.ts"
import { MAX_NANO } from "../../money/money.ts"
import { asGatewayError, GatewayError } from "../../errors/errors.ts"
import { jsonResponse } from "../../http/json-response.ts"
import { logError } from "../../support/log.ts"
import { chatRequest } from "../endpoints/chat/request.ts"
import { newMeter } from "../../formats/chat/meter.ts"
import { guardrailStages } from "../../guardrails/stages.ts"
import { screenToolResult } from "../screening/screen.ts"
import { responseHeadersOf, streamHeaders } from "../reply.ts"
import { newDraft } from "../draft.ts"
import type { CallContext } from "../inference-request.ts"
import type { PipelineStage } from "../../formats/pipeline-stage.ts"
import { FrameWriter } from "../../formats/sse/frame-writer.ts"
import type { Deps } from "../deps.ts"
import { Agent, type CallUpstream, type Job } from "./agent.ts"
import { StreamResponder } from "./respond-stream.ts"
import { respondJson } from "./respond-json.ts"
import { isJson } from "./respond.ts"

/** Serves a call with server tools or response plugins, which may take several upstream calls. */
export function runAgent(job: Job, callUpstream: CallUpstream, deps: Deps): Promise<Response> {
  return runLoop(job, callUpstream, deps).catch((thrown: unknown) => {
    job.prepared.close?.()
    throw thrown
  })
}

async function runLoop(job: Job, callUpstream: CallUpstream, deps: Deps): Promise<Response> {
  const { meta } = job
  const { chat, close } = job.prepared
  if (chat.n != null && chat.n > 1) {
    throw new GatewayError(
      "invalid_request",
      "n: must be 1 with server tools, and with plugins that change the response.",
    )
  }
  const agent = new Agent(await withScreenedAnnotations(job), callUpstream, deps)
  const disconnect = new AbortController()
  const signal = AbortSignal.any([deps.signal, disconnect.signal])
  const first = await agent.nextResponse(signal)
  const id = first.headers.get("x-generation-id") ?? ""
  const outer = outerCall(id, agent)
  const encoder = job.encoderFor(outer)
  if (!chat.stream) {
    const document = await respondJson(agent, encoder, first, signal)
    close?.()
    return jsonResponse(document, { headers: responseHeadersOf(id) })
  }

  const channel = new IdentityTransformStream()
  const out = new FrameWriter(channel.writable, () => disconnect.abort())
  const responder = new StreamResponder(agent, encoder, out, signal)
  const work = responder
    .respond(first)
    .catch((thrown: unknown) => {
      const error = asGatewayError(thrown)
      if (error.code === "internal")
        logError("agent stream failed", { requestId: meta.requestId, generation: id }, thrown)
      if (!signal.aborted) responder.fail(error, outer.metadata([]))
    })
    .then(() => close?.())
    .then(() => out.release())
    .then(() => channel.writable.close())
    .catch(() => undefined)
  deps.waitUntil(work)
  return new Response(channel.readable, { headers: streamHeaders(id, encoder) })
}

/** Applies the guardrails to the annotations that plugins added. */
async function withScreenedAnnotations(job: Job): Promise<Job> {
  const { prepared, screening, meta } = job
  if (prepared.annotations.length === 0) return job
  const { annotations } = prepared
  return {
    ...job,
    prepared: { ...prepared, ...(await screenToolResult({ annotations }, screening, prepared.chat, meta)) },
  }
}

/** The call context for the encoder of the client response. The pipeline only handles single rounds. */
function outerCall(id: string, agent: Agent): CallContext {
  const { job, deps } = agent
  const { meta, caller } = job
  const { chat, preparation } = job.prepared
  const { requestedModel } = preparation
  const about = {
    apiType: "completions",
    requestedModel,
    streamed: chat.stream,
    sessionId: null,
    promptEstimate: 0,
  } as const
  return {
    request: chatRequest(chat, 0),
    meta,
    draft: { ...newDraft(about, meta, caller), id },
    chargeLimitOf: () => MAX_NANO,
    estimateNano: 0,
    targets: [],
    deps,
    stages: () => [],
    metadata: () => {
      if (!agent.metadata) return {}
      const stages = withLaterFindings(objectsOf(agent.metadata["pipeline"]), agent)
      const metadata = { ...agent.metadata, pipeline: [...stages, ...agent.stages, ...healingStages(job)] }
      return { service_metadata: metadata, openrouter_metadata: metadata }
    },
    meter: newMeter(),
    servingTarget: undefined,
    dispatchAbort: new DispatchAbort(),
  }
}

/** Adds findings in tool results that were screened after the last round reported its stages. */
function withLaterFindings(stages: readonly Json[], { job: { screening, caller }, findings }: Agent): Json[] {
  if (!screening) return [...stages]
  const latest = guardrailStages(caller.guardrails, findings)
  const laterOf = (id: unknown) => latest.find((stage) => stage.guardrail_id === id)
  return stages.map((stage) => (stage["type"] === "guardrail" ? (laterOf(stage["guardrail_id"]) ?? stage) : stage))
}

function healingStages({ prepared }: Job): PipelineStage[] {
  if (!prepared.heals) return []
  const summary = isJson(prepared.chat) ? "invalid JSON in the response was repaired" : "JSON was not requested"
  return [{ type: "response_healing", name: "response-healing", summary }]
}
