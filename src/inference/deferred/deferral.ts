import type { ByokCredential } from "../../byok/usable-credentials.ts"
import type { Target } from "../../routing/target.ts"

/**
 * A call whose request is sent to the provider in a batch and whose response arrives hours later. It runs through the
 * pipeline twice: first to place the hold and build the upstream request, then to read, charge and record the response.
 * Both runs have the same generation id, so there is one hold and one charge however often a run is repeated. What the
 * first run decided is kept for the second, since aliases, presets, prices and files may change in between.
 */
export type Deferral = {
  generationId: string
  /** Slug of the provider. */
  provider: string
  holdTtlMs: number
} & (Submission | DeferredResult)

/** The endpoint that a request was submitted to, with its prices in a batch. */
export type KeptTarget = Pick<Target, "model" | "endpoint">

/** The decisions of the first run about a request. */
export type KeptCall = {
  /** The client's request after aliases, preset and defaults. Stored files are still named by id. */
  body: object
  alias?: string
  presetId?: string
  /** Output guardrails apply, so that the upstream request is in the chat format. */
  isReadAsChat?: boolean
  target: KeptTarget
}

/** `credential`: id of the BYOK credential whose key the request is for; null for the gateway's key. */
export type DeferredRequest = {
  path: string
  body: Record<string, unknown>
  credential: string | null
  target: KeptTarget
}

export type Submission = {
  /** Reasons of BYOK credentials that failed before a request was sent, by credential id. */
  skippedCredentials: ReadonlyMap<string, string>
  /** Keeps parts of the call for the second run. */
  keep: (some: Partial<Omit<KeptCall, "target">>) => void
  /** Takes the request for the provider. */
  submit: (request: DeferredRequest) => void
}

export type DeferredResult = {
  /** The response of the provider. */
  response: () => Response
  /** The BYOK credential that the request was sent with; undefined for the gateway's key. */
  byok: ByokCredential | undefined
  /** Undefined for a request that an earlier release submitted. */
  kept: KeptCall | undefined
}

/** The decisions of the first run; undefined in other runs. */
export function keptCallOf(deferral: Deferral | undefined): KeptCall | undefined {
  return deferral && "response" in deferral ? deferral.kept : undefined
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
