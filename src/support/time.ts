/** RFC 3339 with seconds and `Z`, as every timestamp on the wire. */
export function toTimestamp(epochMs: number): string {
  return new Date(epochMs).toISOString()
}
