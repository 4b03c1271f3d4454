/** The names by which a computer calls itself: nobody else receives what is sent there. */
const OWN_NAMES = ["localhost", "127.0.0.1", "[::1]"]

/**
 * Where a code may be sent. A fragment would be lost or mixed with what is added, and credentials in a URL are a way to
 * make one host look like another.
 */
export function isCallback(text: string): boolean {
  const url = URL.parse(text)
  if (!url || text.includes("#") || /[\s\\]/.test(text) || url.username !== "" || url.password !== "") return false
  if (url.protocol === "https:") return true
  return url.protocol === "http:" && OWN_NAMES.includes(url.hostname)
}

/** The callback with what it is told, beside what it had. */
export function withAnswer(callbackUrl: string, answer: Readonly<Record<string, string>>): string {
  const url = new URL(callbackUrl)
  for (const [name, value] of Object.entries(answer)) url.searchParams.set(name, value)
  return url.href
}
