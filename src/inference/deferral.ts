import type { ByokCredential } from "../byok/usable-credentials.ts"

/**
 * A call whose request is sent to the provider in a batch and whose response arrives hours later. It runs through the
 * pipeline twice: first to place the hold and build the upstream request, then to read, charge and record the response.
 * Both runs have the same generation id, so there is one hold and one charge however often a run is repeated.
 */
export type Deferral = {
  generationId: string
  /** Slug of the provider. */
  provider: string
  holdTtlMs: number
} & (Submission | DeferredResult)

/** `credential`: id of the BYOK credential whose key the request is for; null for the gateway's key. */
export type DeferredRequest = { path: string; body: Record<string, unknown>; credential: string | null }

export type Submission = {
  /** Reasons of BYOK credentials that failed before a request was sent, by credential id. */
  skippedCredentials: ReadonlyMap<string, string>
  /** Takes the request for the provider. */
  submit: (request: DeferredRequest) => void
}

export type DeferredResult = {
  /** The response of the provider. */
  response: () => Response
  /** The BYOK credential that the request was sent with; undefined for the gateway's key. */
  byok: ByokCredential | undefined
}

type Context = Pick<ExecutionContext, "waitUntil">

/** By context, because middleware replaces the request. */
const deferrals = new WeakMap<Context, Deferral>()

export function defer(context: Context, deferral: Deferral): void {
  deferrals.set(context, deferral)
}

export function deferralOf(context: Context): Deferral | undefined {
  return deferrals.get(context)
}
