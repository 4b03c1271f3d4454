import { GatewayError } from "../../errors/errors.ts"
import { inlineFiles } from "../../files/inline.ts"
import type { InferenceCall } from "../call.ts"
import { keptCallOf } from "../deferred/deferral.ts"
import type { Deps } from "../deps.ts"
import { sizeAfter } from "../screening/screen.ts"

/** The request with the data of the gateway's files that it names by id. Before the guardrails, which read the data. */
export async function inlineStoredFiles<Body extends object>(
  call: InferenceCall<Body>,
  { findFile, deferral }: Pick<Deps, "findFile" | "deferral">,
): Promise<InferenceCall<Body>> {
  const body = await inlineFiles(call.body, findFile).catch((thrown: unknown) => {
    // The request was sent with these files, which may have been deleted since.
    if (thrown instanceof GatewayError && keptCallOf(deferral)) return call.body
    throw thrown
  })
  return body === call.body ? call : { ...call, body, bodyBytes: sizeAfter(body, call.body, call.bodyBytes) }
}
