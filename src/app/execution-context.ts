/** The execution context of a request that a Durable Object sends through the app. */
export function executionContextOf(ctx: Pick<ExecutionContext, "waitUntil">): ExecutionContext {
  return {
    waitUntil: (work: Promise<unknown>) => ctx.waitUntil(work),
    passThroughOnException: () => undefined,
    props: {},
  } as ExecutionContext
}
