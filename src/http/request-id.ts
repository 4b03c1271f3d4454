/** An id for the log lines, the response header and the generations of a request. */
export function newRequestId(): string {
  return `req-${crypto.randomUUID()}`
}
