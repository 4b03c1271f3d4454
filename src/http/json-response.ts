/**
 * A JSON response. `JSON.stringify` serializes 100 KB several times as fast as the runtime's `Response.json`, which does
 * not use V8's fast path.
 */
export function jsonResponse(body: unknown, init: { status?: number; headers: Record<string, string> }): Response {
  return new Response(JSON.stringify(body), {
    ...init,
    headers: { ...init.headers, "content-type": "application/json" },
  })
}
