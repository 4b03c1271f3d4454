/**
 * Browsers accept the `__Host-` prefix and `Secure` only where they take the connection for secure. On plain http not
 * all of them do so for the loopback address, so a cookie has neither there.
 */
export function hostCookieName(name: string, url: string): string {
  return isSecure(url) ? `__Host-${name}` : name
}

export function isSecure(url: string): boolean {
  return url.startsWith("https:")
}
