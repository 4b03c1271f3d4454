import { asGatewayError, GatewayError } from "../../errors/errors.ts"
import type { Attempt } from "../../formats/attempt.ts"
import { jsonResponse } from "../../http/json-response.ts"
import type { HeldCall } from "../call.ts"
import { responseHeadersOf, cacheHeaders, timingHeaders, toServingInfo } from "../reply.ts"
import { dispatchError, rejectedResult } from "./failure.ts"
import type { RelayJob, Reply } from "./job.ts"

/** `recorded` resolves when the call is settled, whether `result` is a response or the error to throw. */
type Finished = { result: Response | GatewayError; recorded: Promise<unknown> }

/** A response in one JSON document, or the bytes of one that is not text. */
export function relayDocument(job: RelayJob): Reply {
  const work = finish(job)
  return {
    response: work.then(({ result }) => {
      if (result instanceof Response) return result
      throw result
    }),
    finished: work.then(({ recorded }) => recorded).catch(() => undefined),
  }
}

async function finish({ call, upstream, filter, settle }: RelayJob): Promise<Finished> {
  const result = await upstream
  const { attempts } = result
  if (!result.ok || result.accepted.kind === "stream") {
    const error = dispatchError(call, result.ok ? [] : result.rejections, attempts)
    return { result: error, recorded: settle(rejectedResult(call, result, error)).recorded }
  }
  const { accepted, reached } = result
  call.servingTarget = accepted.target
  if (accepted.kind === "document") accepted.reader.read(call.meter, accepted.result)
  const document = accepted.kind === "document" ? accepted.result : undefined
  const passed = document && filter ? await filter.filterDocument(accepted, document) : document
  const error = passed instanceof GatewayError ? passed : undefined
  const status = error?.status ?? 200
  const { charge, recorded } = settle({ ending: "complete", status, attempts, accepted, reached, error })
  const headers = {
    ...responseHeadersOf(call.draft.id),
    ...cacheHeaders(attempts),
    ...timingHeaders(call.meta, attempts),
  }
  if (accepted.kind === "bytes") {
    const response = new Response(accepted.body, { headers: { ...headers, "content-type": accepted.contentType } })
    return { result: response, recorded }
  }
  if (!passed || passed instanceof GatewayError) return { result: blockedError(call, passed, attempts), recorded }
  const body = call.encoder.document(passed, toServingInfo(accepted, attempts), charge)
  return { result: jsonResponse(body, { headers }), recorded }
}

function blockedError(call: HeldCall, blocked: GatewayError | undefined, attempts: readonly Attempt[]): GatewayError {
  if (!blocked) return asGatewayError(new Error("A JSON response has no document."))
  const { code, message, metadata } = blocked
  return new GatewayError(code, message, {
    ...(metadata && { metadata }),
    ...(call.meta.wantsMetadata && { extraFields: call.metadata(attempts) }),
    headers: responseHeadersOf(call.draft.id),
  })
}
