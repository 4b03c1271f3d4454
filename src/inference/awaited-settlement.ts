type Context = Pick<ExecutionContext, "waitUntil">

/** By context, because middleware replaces the request. */
const awaited = new WeakSet<Context>()

/** For a caller that waits until the call is charged: its settlement does not wait for others to be sent with. */
export function awaitSettlement(context: Context): void {
  awaited.add(context)
}

export function isSettlementAwaited(context: Context): boolean {
  return awaited.has(context)
}
