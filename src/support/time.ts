/** RFC 3339 with seconds and `Z`, as every timestamp on the wire. */
export function toTimestamp(epochMs: number): string {
  return new Date(epochMs).toISOString()
}

/** Undefined, so that what it races with can be told from it. */
export function wait(ms: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), ms))
}
