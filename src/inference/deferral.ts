import type { ByokCredential } from "../byok/usable-credentials.ts"

/**
 * A call whose request goes to its provider in a batch, and whose response comes hours later. The pipeline takes it
 * twice: it holds the call and gives out the request for the provider, and it reads, charges and records the response.
 * Both have the same generation, so there is one hold and one charge, however often each step is repeated.
 */
export type Deferral = {
  generationId: string
  /** Slug of the provider. */
  provider: string
  holdTtlMs: number
} & (Submission | Received)

/** `credential`: id of the BYOK credential whose key the request is for; null for the gateway's key. */
export type DeferredRequest = { path: string; body: Record<string, unknown>; credential: string | null }

export type Submission = {
  /** BYOK credentials that failed before anything was sent with them, by id, each with the reason. */
  passedOver: ReadonlyMap<string, string>
  /** Takes the request for the provider. */
  submit: (request: DeferredRequest) => void
}

export type Received = {
  /** The response of the provider. */
  response: () => Response
  /** The BYOK credential that the request was sent with; undefined for the gateway's key. */
  byok: ByokCredential | undefined
}

type Context = Pick<ExecutionContext, "waitUntil">

/** By context of the call: middleware replaces its request. */
const deferrals = new WeakMap<Context, Deferral>()

export function defer(context: Context, deferral: Deferral): void {
  deferrals.set(context, deferral)
}

export function deferralOf(context: Context): Deferral | undefined {
  return deferrals.get(context)
}
