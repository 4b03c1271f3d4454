/** Loopback hosts: only the user's machine receives requests to them. */
const LOOPBACK_HOSTS = ["localhost", "127.0.0.1", "[::1]"]

/**
 * Whether a code may be sent to this URL. Parameters added after a fragment would be lost, and credentials in a URL
 * make one host look like another.
 */
export function isCallback(text: string): boolean {
  const url = URL.parse(text)
  if (!url || text.includes("#") || /[\s\\]/.test(text) || url.username !== "" || url.password !== "") return false
  if (url.protocol === "https:") return true
  return url.protocol === "http:" && LOOPBACK_HOSTS.includes(url.hostname)
}

/** The callback URL with these parameters added to its query. */
export function withParameters(callbackUrl: string, parameters: Readonly<Record<string, string>>): string {
  const url = new URL(callbackUrl)
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url.href
}
