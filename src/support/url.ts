/** Whether two URLs have the same scheme, host and port. */
export function isSameOrigin(one: string, other: string): boolean {
  const origin = URL.parse(one)?.origin
  return origin !== undefined && origin !== "null" && origin === URL.parse(other)?.origin
}
