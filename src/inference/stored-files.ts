import { inlineFiles } from "../files/inline.ts"
import type { InferenceCall } from "./call.ts"
import type { Deps } from "./deps.ts"
import { sizeAfter } from "./screen.ts"

/** The request with the data of the gateway's files that it names by id. Before the guardrails, which read the data. */
export async function inlineStoredFiles<Body extends object>(
  call: InferenceCall<Body>,
  { findFile }: Pick<Deps, "findFile">,
): Promise<InferenceCall<Body>> {
  const body = await inlineFiles(call.body, findFile)
  return body === call.body ? call : { ...call, body, bodyBytes: sizeAfter(body, call.body, call.bodyBytes) }
}
