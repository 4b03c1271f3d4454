type Context = Pick<ExecutionContext, "waitUntil">

/** By context, because middleware replaces the request. */
const awaited = new WeakSet<Context>()

/** For a client that waits until the call is charged: its settlement is sent without waiting for a batch. */
export function awaitSettlement(context: Context): void {
  awaited.add(context)
}

export function isSettlementAwaited(context: Context): boolean {
  return awaited.has(context)
}
