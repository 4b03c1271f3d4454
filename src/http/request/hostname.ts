/**
 * The requested hostname, in lower case and without trailing dots. The runtime keeps the spelling of the Host header in
 * the URL of a request.
 */
export function requestedHost({ url }: Pick<Request, "url">): string {
  return new URL(url).hostname.toLowerCase().replace(/\.+$/, "")
}
