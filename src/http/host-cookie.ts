/**
 * Browsers accept the `__Host-` prefix and `Secure` only on connections that they consider secure. Not all of them
 * consider plain http to the loopback address secure, so a cookie has neither there.
 */
export function hostCookieName(name: string, url: string): string {
  return isSecure(url) ? `__Host-${name}` : name
}

export function isSecure(url: string): boolean {
  return url.startsWith("https:")
}
