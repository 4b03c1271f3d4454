/** Whether two URLs have the same scheme, host and port. */
export function isSameOrigin(a: string, b: string): boolean {
  const origin = URL.parse(a)?.origin
  return origin !== undefined && origin !== "null" && origin === URL.parse(b)?.origin
}
