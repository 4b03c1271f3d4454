import { describe, expect, test } from "vitest"
import type { Env } from "../../src/config/env.ts"
import { toolSettings, toolDepsOf } from "../../src/server-tools/settings.ts"
import { configuredSearch } from "../../src/server-tools/web-search/configured.ts"
import { network, NOW, rejectionOf, SECRET } from "./mock-network.ts"

const env = (variables: Record<string, string>) => variables as unknown as Env

describe("the search engines of a deployment", () => {
  test("are undefined without a key", () => {
    expect(configuredSearch(env({}))).toBeUndefined()
    expect(configuredSearch(env({ EXA_BASE_URL: "https://exa.test", SEARXNG_API_KEY: SECRET }))).toBeUndefined()
  })

  test.each([
    ["EXA_API_KEY", "exa", "https://api.exa.ai"],
    ["TAVILY_API_KEY", "tavily", "https://api.tavily.com"],
    ["BRAVE_API_KEY", "brave", "https://api.search.brave.com/res/v1"],
    ["PARALLEL_API_KEY", "parallel", "https://api.parallel.ai/v1"],
    ["FIRECRAWL_API_KEY", "firecrawl", "https://api.firecrawl.dev/v2"],
    ["PERPLEXITY_API_KEY", "perplexity", "https://api.perplexity.ai"],
  ])("%s is %s", (name, engine, baseUrl) => {
    const search = configuredSearch(env({ [name]: SECRET }))
    expect([...(search?.engines ?? [])]).toEqual([[engine, { baseUrl, apiKey: SECRET }]])
    expect(search).toMatchObject({ preferred: engine, priceNano: 0 })
  })

  test("can be a self-hosted server without a key", () => {
    const search = configuredSearch(env({ SEARXNG_BASE_URL: "http://10.0.0.7:8888/" }))
    expect(search?.engines.get("searxng")).toEqual({ baseUrl: "http://10.0.0.7:8888", apiKey: undefined })
  })

  test("have a preferred engine, a base URL and a price", () => {
    const search = configuredSearch(
      env({
        EXA_API_KEY: SECRET,
        BRAVE_API_KEY: SECRET,
        BRAVE_BASE_URL: "https://proxy.test/brave",
        WEB_SEARCH_ENGINE: "brave",
        WEB_SEARCH_PRICE: "0.005",
      }),
    )
    expect(search).toMatchObject({ preferred: "brave", priceNano: 5_000_000 })
    expect(search?.engines.get("brave")?.baseUrl).toBe("https://proxy.test/brave")
  })

  test.each([
    [{ EXA_API_KEY: SECRET, WEB_SEARCH_ENGINE: "brave" }, "WEB_SEARCH_ENGINE: brave needs BRAVE_API_KEY."],
    [{ WEB_SEARCH_ENGINE: "searxng" }, "WEB_SEARCH_ENGINE: searxng needs SEARXNG_BASE_URL."],
    [{ EXA_API_KEY: SECRET, WEB_SEARCH_ENGINE: "bing" }, /^WEB_SEARCH_ENGINE: accepts exa, tavily/],
    [
      { EXA_API_KEY: SECRET, EXA_BASE_URL: `https://u:${SECRET}@x.test` },
      /^EXA_BASE_URL: must be an http or https URL/,
    ],
  ])("are rejected for %j", async (variables, content) => {
    const message = await rejectionOf(() => configuredSearch(env(variables)))
    expect(message).toMatch(content)
    expect(message).not.toContain(SECRET)
  })
})

describe("the private hosts of a deployment", () => {
  const hosts = (list: string) => [...toolSettings(env({ WEB_FETCH_ALLOWED_HOSTS: list })).webFetch.allowedHosts]

  test.each([
    ["", []],
    ["wiki.internal", ["wiki.internal"]],
    [" Wiki.Internal , 10.0.0.5:8080,", ["wiki.internal", "10.0.0.5:8080"]],
    ["http-server:80, [::1]:9000, [fd00::1]", ["http-server:80", "[::1]:9000", "[fd00::1]"]],
  ])("%j", (list, expected) => {
    expect(hosts(list)).toEqual(expected)
  })

  test.each(["http://wiki.internal", "wiki/page", "*.internal", "user@wiki", "a b", "wiki:99999"])(
    "%s is rejected",
    async (list) => {
      expect(await rejectionOf(() => hosts(list))).toMatch(/^WEB_FETCH_ALLOWED_HOSTS: must be hosts like/)
    },
  )
})

describe("DNS lookups", () => {
  const signal = new AbortController().signal

  test.each([
    [{}, "https://cloudflare-dns.com/dns-query?name=a.example&type=A"],
    [{ WEB_FETCH_DNS_URL: "https://dns.test/resolve?ct=x" }, "https://dns.test/resolve?ct=x&name=a.example&type=A"],
  ])("use the resolver of %j", async (variables, url) => {
    const { fetch, sent } = network({ "*": Response.json({ Status: 0 }) })
    const { resolve } = toolDepsOf(env(variables), { fetch, now: () => NOW, signal })
    expect(await resolve("a.example", signal)).toEqual([])
    expect(sent[0]?.url).toBe(url)
  })

  test("connect by the public network where it is bound, whatever the stage", async () => {
    const requested: string[] = []
    const PUBLIC_NETWORK = { fetch: async (url: string) => (requested.push(url), new Response()) }
    for (const STAGE of ["production", "development", ""]) {
      const bound = { ...env({ STAGE }), PUBLIC_NETWORK: PUBLIC_NETWORK as Partial<Fetcher> as Fetcher }
      const { isGuarded, publicFetch } = toolDepsOf(bound, { fetch: network().fetch, now: () => NOW, signal })
      expect(isGuarded).toBe(true)
      await publicFetch?.("https://a.example/")
    }
    expect(requested).toHaveLength(3)
  })

  test.each([
    ["production", true],
    ["development", false],
    ["", false],
  ])("are guarded by the platform's network only in production: %s", (STAGE, isGuarded) => {
    const { fetch } = network()
    expect(toolDepsOf(env({ STAGE }), { fetch, now: () => NOW, signal }).isGuarded).toBe(isGuarded)
  })
})
