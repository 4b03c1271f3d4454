/** The session cookie is only valid with this header, which another site cannot send. */
export const CONSOLE_HEADER = { "x-gateway-console": "1" }

let first: Promise<Response> | undefined

/** Requests the session before the code that reads the response is loaded. */
export function requestSession(): void {
  first = fetchSession()
  // Reported to the reader later.
  first.catch(() => {})
}

function fetchSession(): Promise<Response> {
  return fetch("/console/session", { credentials: "same-origin", headers: CONSOLE_HEADER })
}

/** The response in progress, once; a new request after that. */
export function takeSession(): Promise<Response> {
  const taken = first ?? fetchSession()
  first = undefined
  return taken
}
