import type { Caller } from "../../policy/call-policy.ts"
import { MAX_NANO } from "../../money/money.ts"
import { asGatewayError, GatewayError } from "../../errors/errors.ts"
import { logError } from "../../support/log.ts"
import { chatIntake } from "../endpoints/chat/request.ts"
import { newReading } from "../../formats/chat/meter.ts"
import { answerHeaders, streamHeaders } from "../headers.ts"
import { newDraft } from "../hold.ts"
import type { CallState } from "../inference-request.ts"
import type { Stage } from "../../formats/pipeline-stage.ts"
import { FrameWriter } from "../../formats/sse/frame-writer.ts"
import type { Arrival, World } from "../deps.ts"
import { Agent, type Job } from "./agent.ts"
import { StreamTelling } from "./respond-stream.ts"
import { tellWhole } from "./respond-json.ts"
import { isJson } from "./respond.ts"

/** A call whose answer the gateway works on: its tools answer the model, or its plugins mend what the model says. */
export async function serveAgent(job: Job, arrival: Arrival, caller: Caller, world: World): Promise<Response> {
  const { chat } = job.prepared
  if (chat.n != null && chat.n > 1) {
    throw new GatewayError(
      "invalid_request",
      "n: must be 1 with server tools, and with plugins that work on the answer.",
    )
  }
  const agent = new Agent(job, arrival, caller, world)
  const leaving = new AbortController()
  const signal = AbortSignal.any([world.signal, leaving.signal])
  const first = await agent.ask(signal)
  const id = first.headers.get("x-generation-id") ?? ""
  const outer = outerCall(id, agent, caller)
  const dialect = job.dialectOf(outer)
  if (!chat.stream) return Response.json(await tellWhole(agent, dialect, first, signal), { headers: answerHeaders(id) })

  const channel = new IdentityTransformStream()
  const out = new FrameWriter(channel.writable, () => leaving.abort())
  const work = new StreamTelling(agent, dialect, out, signal)
    .tell(first)
    .catch((thrown: unknown) => {
      const error = asGatewayError(thrown)
      if (error.code === "internal")
        logError("an agent's stream failed", { requestId: arrival.requestId, generation: id }, thrown)
      if (!signal.aborted) out.write(dialect.failure(error, outer.metadata([])))
    })
    .then(() => out.release())
    .then(() => channel.writable.close())
    .catch(() => undefined)
  world.later(work)
  return new Response(channel.readable, { headers: streamHeaders(id) })
}

/** What a dialect reads of a call; of this one the road knows the rounds alone. */
function outerCall(id: string, agent: Agent, caller: Caller): CallState {
  const { job, arrival, world } = agent
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
    intake: chatIntake(chat, 0),
    arrival,
    draft: { ...newDraft(about, arrival, caller), id },
    chargeLimitOf: () => MAX_NANO,
    estimateNano: 0,
    targets: [],
    world,
    metadata: () => {
      if (!agent.metadata) return {}
      const stages = Array.isArray(agent.metadata["pipeline"]) ? (agent.metadata["pipeline"] as Stage[]) : []
      const metadata = { ...agent.metadata, pipeline: [...stages, ...agent.stages, ...healingOf(job)] }
      return { service_metadata: metadata, openrouter_metadata: metadata }
    },
    reading: newReading(),
    answering: undefined,
    asking: new AbortController(),
  }
}

function healingOf({ prepared }: Job): Stage[] {
  if (!prepared.heals) return []
  const summary = isJson(prepared.chat) ? "the answer was made valid JSON, if it was none" : "no JSON was asked for"
  return [{ type: "response_healing", name: "response-healing", summary }]
}
