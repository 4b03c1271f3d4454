import type { DomainRule } from "../domains.ts"
import { startOf } from "../text.ts"
import { UNITS_PER_TOKEN } from "../../support/tokens.ts"

/** In order of preference if the request names none. */
export const engineNames = ["exa", "tavily", "brave", "parallel", "firecrawl", "perplexity", "searxng"] as const
export type EngineName = (typeof engineNames)[number]

export type SearchResult = { title: string; url: string; snippet: string; published?: string }

/** A search, independent of the engine. */
export type Search = {
  query: string
  maxResults: number
  maxCharacters: number
  allowed: readonly DomainRule[]
  excluded: readonly DomainRule[]
  contextSize: "low" | "medium" | "high" | undefined
  mode: string | undefined
  /** ISO 3166-1 alpha-2, in capitals. */
  country: string | undefined
}

type SearchHttpRequest = {
  path: string
  headers: Record<string, string>
  body?: Record<string, unknown>
  query?: Record<string, string>
}
type Raw = Record<string, unknown>

export type Engine = {
  baseUrl: string
  modes: readonly string[]
  buildRequest: (search: Search, apiKey: string) => SearchHttpRequest
  /** The results in an engine's response, unchecked; search.ts keeps the valid ones. */
  list: (document: Raw) => unknown
  toResult: (raw: Raw) => Record<"title" | "url" | "snippet" | "published", unknown>
}

const bearer = (apiKey: string) => ({ authorization: `Bearer ${apiKey}` })
const joined = (texts: unknown) =>
  Array.isArray(texts) ? texts.filter((text) => typeof text === "string").join("\n") : ""

/**
 * Engines filter by hosts with their subdomains. A rule with a path is not sent as an exclusion, because it would
 * exclude the complete host. Results are checked against the rules afterwards.
 */
const included = ({ allowed }: Search) => [...new Set(allowed.map(({ host }) => host))]
const excluded = ({ excluded: rules }: Search) => rules.flatMap(({ host, path }) => (path === "" ? [host] : []))

/** For engines whose only filter is the query. */
function withOperators(search: Search): string {
  const sites = included(search).map((host) => `site:${host}`)
  const not = excluded(search).map((host) => `-site:${host}`)
  const only = sites.length > 1 ? `(${sites.join(" OR ")})` : sites.join("")
  return [search.query, only, ...not].filter((part) => part !== "").join(" ")
}

/** Only fields with a value: engines reject nulls, and some give an empty list a meaning. */
function withoutEmptyFields(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0)),
  )
}

export const engines: Record<EngineName, Engine> = {
  exa: {
    baseUrl: "https://api.exa.ai",
    modes: ["instant", "fast", "auto", "deep-lite", "deep", "deep-reasoning"],
    buildRequest: (search, apiKey) => ({
      path: "/search",
      headers: { "x-api-key": apiKey },
      body: withoutEmptyFields({
        query: search.query,
        type: search.mode ?? "auto",
        numResults: search.maxResults,
        includeDomains: included(search),
        excludeDomains: excluded(search),
        userLocation: search.country,
        contents: { text: { maxCharacters: search.maxCharacters } },
      }),
    }),
    list: ({ results }) => results,
    toResult: (raw) => ({
      title: raw["title"],
      url: raw["url"],
      snippet: raw["text"] ?? joined(raw["highlights"]),
      published: raw["publishedDate"],
    }),
  },
  tavily: {
    baseUrl: "https://api.tavily.com",
    modes: ["basic", "fast", "advanced"],
    buildRequest: (search, apiKey) => ({
      path: "/search",
      headers: bearer(apiKey),
      body: withoutEmptyFields({
        query: search.query,
        search_depth: search.mode,
        max_results: search.maxResults,
        include_domains: included(search),
        exclude_domains: excluded(search),
      }),
    }),
    list: ({ results }) => results,
    toResult: (raw) => ({
      title: raw["title"],
      url: raw["url"],
      snippet: raw["content"],
      published: raw["published_date"],
    }),
  },
  brave: {
    baseUrl: "https://api.search.brave.com/res/v1",
    modes: [],
    buildRequest: (search, apiKey) => ({
      path: "/web/search",
      headers: { "x-subscription-token": apiKey },
      query: withoutEmptyFields({
        q: withOperators(search),
        count: String(search.maxResults),
        text_decorations: "false",
        country: search.country,
      }) as Record<string, string>,
    }),
    list: ({ web }) => (web as Raw | undefined)?.["results"],
    toResult: (raw) => ({
      title: raw["title"],
      url: raw["url"],
      snippet: [raw["description"], joined(raw["extra_snippets"])].filter(Boolean).join("\n"),
      published: raw["page_age"],
    }),
  },
  parallel: {
    baseUrl: "https://api.parallel.ai/v1",
    modes: ["turbo", "fast", "basic", "advanced"],
    buildRequest: (search, apiKey) => ({
      path: "/search",
      headers: { "x-api-key": apiKey },
      body: {
        objective: search.query,
        search_queries: [startOf(search.query, 200)],
        // Version 1 of the API calls "fast" what version 2 calls "basic".
        mode: search.mode === undefined || search.mode === "fast" ? "basic" : search.mode,
        advanced_settings: withoutEmptyFields({
          max_results: search.maxResults,
          location: search.country?.toLowerCase(),
          excerpt_settings: { max_chars_per_result: search.maxCharacters },
          source_policy: withoutEmptyFields({ include_domains: included(search), exclude_domains: excluded(search) }),
        }),
      },
    }),
    list: ({ results }) => results,
    toResult: (raw) => ({
      title: raw["title"],
      url: raw["url"],
      snippet: joined(raw["excerpts"]),
      published: raw["publish_date"],
    }),
  },
  firecrawl: {
    baseUrl: "https://api.firecrawl.dev/v2",
    modes: [],
    buildRequest: (search, apiKey) => ({
      path: "/search",
      headers: bearer(apiKey),
      body: withoutEmptyFields({
        query: withOperators(search),
        limit: search.maxResults,
        sources: [{ type: "web" }],
        country: search.country,
      }),
    }),
    list: ({ data }) => (Array.isArray(data) ? data : (data as Raw | undefined)?.["web"]),
    toResult: (raw) => ({
      title: raw["title"],
      url: raw["url"],
      snippet: raw["markdown"] ?? raw["description"],
      published: raw["date"],
    }),
  },
  perplexity: {
    baseUrl: "https://api.perplexity.ai",
    modes: [],
    buildRequest: (search, apiKey) => ({
      path: "/search",
      headers: bearer(apiKey),
      body: withoutEmptyFields({
        query: search.query,
        max_results: search.maxResults,
        max_tokens_per_page: Math.ceil(search.maxCharacters / UNITS_PER_TOKEN),
        search_context_size: search.contextSize,
        search_domain_filter: [...included(search), ...excluded(search).map((host) => `-${host}`)],
        country: search.country,
      }),
    }),
    list: ({ results }) => results,
    toResult: (raw) => ({ title: raw["title"], url: raw["url"], snippet: raw["snippet"], published: raw["date"] }),
  },
  searxng: {
    baseUrl: "",
    modes: [],
    buildRequest: (search, apiKey) => ({
      path: "/search",
      headers: apiKey === "" ? {} : bearer(apiKey),
      query: { q: withOperators(search), format: "json" },
    }),
    list: ({ results }) => results,
    toResult: (raw) => ({
      title: raw["title"],
      url: raw["url"],
      snippet: raw["content"],
      published: raw["publishedDate"],
    }),
  },
}
