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
  /** Takes the request for the provider; `response` is absent then. */
  submit: (request: { path: string; body: Record<string, unknown> }) => void
  /** The response of the provider. */
  response?: () => Response
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
