import { isObject, type Json } from "../../support/text/json.ts"
import { readAtMost } from "../../support/bytes.ts"
import { isPermitted } from "../domains.ts"
import { truncateEnd, startOf } from "../text.ts"
import { withDeadline } from "../../outbound/deadline.ts"
import type { SearchSettings } from "./configured.ts"
import { engines, type EngineName, type Search, type SearchResult } from "./engines.ts"

export type { SearchResult } from "./engines.ts"
export type SearchOutcome = { ok: true; results: SearchResult[]; costNano: number } | { ok: false; reason: string }

type SearchDeps = { fetch: typeof fetch; signal: AbortSignal; settings: SearchSettings }
const MAX_RESPONSE_BYTES = 4_000_000
const MAX_QUERY_LENGTH = 1_000
const MAX_TITLE_LENGTH = 300
const MAX_URL_LENGTH = 2_048

/** Calls one engine. Its error texts are never repeated, since they may contain the API key. */
export async function searchWeb(engine: EngineName, search: Search, deps: SearchDeps): Promise<SearchOutcome> {
  const { settings } = deps
  try {
    const timed = await withDeadline(settings.timeoutMs, deps.signal, (signal) =>
      requestSearch(engine, search, { ...deps, signal }),
    )
    if ("value" in timed) return timed.value
    return failedSearch(timed.stopped === "timeout" ? "the search engine took too long" : "the request was cancelled")
  } catch {
    return failedSearch("the search engine could not be reached")
  }
}

function failedSearch(reason: string): SearchOutcome {
  return { ok: false, reason }
}

async function requestSearch(engine: EngineName, search: Search, deps: SearchDeps): Promise<SearchOutcome> {
  const response = await send(engine, { ...search, query: startOf(search.query, MAX_QUERY_LENGTH) }, deps)
  if (!response.ok || !response.body) {
    await response.body?.cancel()
    return failedSearch(`the search engine returned ${response.status}`)
  }
  const bytes = await readAtMost(response.body, MAX_RESPONSE_BYTES)
  if (!bytes) return failedSearch("the response of the search engine was too large")
  const document = parse(bytes)
  if (!document) return failedSearch("the response of the search engine could not be read")
  return { ok: true, results: toResults(engine, document, search), costNano: deps.settings.priceNano }
}

/** Redirects are not followed: they would send the key to another host. */
async function send(engine: EngineName, search: Search, deps: SearchDeps): Promise<Response> {
  const { fetch: request, settings, signal } = deps
  const configured = settings.engines.get(engine)
  if (!configured) throw new Error(`${engine} is not configured`)
  const { path, headers, body, query } = engines[engine].buildRequest(search, configured.apiKey ?? "")
  const url = new URL(configured.baseUrl + path)
  for (const [name, value] of Object.entries(query ?? {})) url.searchParams.set(name, value)
  return request(url.href, {
    method: body ? "POST" : "GET",
    headers: { accept: "application/json", ...(body && { "content-type": "application/json" }), ...headers },
    ...(body && { body: JSON.stringify(body) }),
    redirect: "manual",
    signal,
  })
}

function parse(bytes: Uint8Array): Json | undefined {
  try {
    const document: unknown = JSON.parse(new TextDecoder().decode(bytes))
    return isObject(document) ? document : undefined
  } catch {
    return undefined
  }
}

function toResults(engine: EngineName, document: Json, search: Search): SearchResult[] {
  const { list, toResult } = engines[engine]
  const raw = list(document)
  const results: SearchResult[] = []
  const seen = new Set<string>()
  for (const entry of Array.isArray(raw) ? raw : []) {
    const { title, url, snippet, published } = isObject(entry) ? toResult(entry) : ({} as ReturnType<typeof toResult>)
    const link = typeof url === "string" && url.length <= MAX_URL_LENGTH ? URL.parse(url) : null
    if (!link || !/^https?:$/.test(link.protocol) || seen.has(link.href)) continue
    if (!isPermitted(link, { allowed: search.allowed, blocked: search.excluded })) continue
    seen.add(link.href)
    results.push({
      title:
        (typeof title === "string" && title.replace(/\s+/g, " ").trim().slice(0, MAX_TITLE_LENGTH)) || link.hostname,
      url: link.href,
      snippet: typeof snippet === "string" ? truncateEnd(snippet.trim(), search.maxCharacters) : "",
      ...(typeof published === "string" && published !== "" && { published: published.slice(0, 40) }),
    })
    if (results.length === search.maxResults) break
  }
  return results
}
