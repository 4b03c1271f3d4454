/** The cost of a batch includes a call some seconds after it has ended. */
export const SETTLED_AFTER_MS = 6_000
export const POLL_MS = 2_000
