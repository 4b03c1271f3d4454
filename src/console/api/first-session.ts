/** The session cookie counts only together with this header, which another site cannot send. */
export const CONSOLE_HEADER = { "x-gateway-console": "1" }

let first: Promise<Response> | undefined

/** Asks for the session before the code that reads the response is there. */
export function requestSession(): void {
  first = fetchSession()
  // Reported to the reader, once there is one.
  first.catch(() => {})
}

function fetchSession(): Promise<Response> {
  return fetch("/console/session", { credentials: "same-origin", headers: CONSOLE_HEADER })
}

/** The response that is under way, once; a request of its own after that. */
export function takeSession(): Promise<Response> {
  const taken = first ?? fetchSession()
  first = undefined
  return taken
}
