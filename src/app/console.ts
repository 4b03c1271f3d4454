import type { Env } from "../config/env.ts"
import { BASE_PATH, canonicalPath } from "../http/paths.ts"
import { SERVICE_PATH } from "../scim/directory.ts"

/**
 * Scripts, styles and requests of this origin only. The console never writes HTML from a string, so the policy can
 * require trusted types and allow no policy that creates them.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ")

const PAGE_HEADERS = {
  "content-security-policy": CONTENT_SECURITY_POLICY,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
}

/** Pages of the console, whose routes are in src/console/routes.ts. Any path below one of them is also a page. */
const PAGES = new Set(
  `playground calls batches interns models providers keys mcp-servers passthrough-services guardrails presets team budgets destinations directories files audit
   settings docs console`.split(/\s+/),
)
/** Paths of the API, for which the console is never served. */
const API_PATHS = [
  BASE_PATH,
  SERVICE_PATH,
  "/auth",
  "/connect",
  "/health",
  "/ready",
  "/console/session",
  "/console/sign-in",
]
const HASHED = "/assets/"
/** The program that redeems a link to connect an agent (src/dev/connect/script.ts). */
const SCRIPT = "/connect.js"

/** The console's response to a request that no API route handles; undefined if it is not for the console. */
export async function serveConsole(request: Request, { ASSETS: assets }: Env): Promise<Response | undefined> {
  if (request.method !== "GET" && request.method !== "HEAD") return undefined
  const { pathname, origin } = new URL(request.url)
  const served = canonicalPath(pathname)
  if (API_PATHS.some((path) => served === path || served.startsWith(`${path}/`))) return undefined
  const isAsset = pathname.startsWith(HASHED) || pathname === SCRIPT
  const isKnown = isAsset || isPage(pathname)
  // A browser that opens an unknown address gets an error page, not JSON.
  if (!isKnown && !request.headers.get("accept")?.includes("text/html")) return undefined
  const missing = () => (isAsset || !isKnown ? undefined : missingBuildResponse(request.method))
  if (!assets) return missing()
  const { method, headers } = request
  const found = await assets.fetch(new Request(isAsset ? request.url : `${origin}/`, { method, headers }))
  if (found.status === 404) return missing()
  // A page has no version to compare with: every load gets the current names of the hashed files.
  const cacheControl = pathname.startsWith(HASHED) ? "public, max-age=31536000, immutable" : "no-store"
  return withHeaders(found, { ...PAGE_HEADERS, "cache-control": cacheControl }, isKnown ? found.status : 404)
}

function isPage(pathname: string): boolean {
  if (pathname === "/") return true
  const [, first = ""] = pathname.split("/")
  return PAGES.has(first)
}

function withHeaders(response: Response, added: Record<string, string>, status: number): Response {
  const headers = new Headers(response.headers)
  for (const [name, value] of Object.entries(added)) headers.set(name, value)
  return new Response(response.body, { status, headers })
}

function missingBuildResponse(method: string): Response {
  const text = "The console is not built. Build it with: npm run console:build. The API is at /api/v1.\n"
  return new Response(method === "HEAD" ? null : text, {
    status: 503,
    headers: { ...PAGE_HEADERS, "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" },
  })
}
