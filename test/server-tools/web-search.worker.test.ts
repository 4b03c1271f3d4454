import { describe, expect, test } from "vitest"
import { readServerTools } from "../../src/server-tools/read-tools.ts"
import { runServerTool } from "../../src/server-tools/run-tool.ts"
import { newTally, type RequestedTool } from "../../src/server-tools/tool.ts"
import { type EngineName, engineNames } from "../../src/server-tools/web-search/engines.ts"
import { type Answer, network, redirect, SECRET, searchSettings, settings, newDeps } from "./mock-network.ts"

const PAGES = [
  { title: "Salt", url: "https://a.example/salt", snippet: "White.", published: "2026-10-01" },
  { title: "Pepper", url: "https://b.example/pepper", snippet: "Black." },
]

/** The same two pages in the response format of each engine. */
const ANSWERS: Record<EngineName, unknown> = {
  exa: {
    results: [
      { title: "Salt", url: "https://a.example/salt", text: "White.", publishedDate: "2026-10-01" },
      { title: "Pepper", url: "https://b.example/pepper", highlights: ["Black."] },
    ],
  },
  tavily: {
    results: [
      { title: "Salt", url: "https://a.example/salt", content: "White.", published_date: "2026-10-01" },
      { title: "Pepper", url: "https://b.example/pepper", content: "Black.", score: 0.5 },
    ],
  },
  brave: {
    web: {
      results: [
        { title: "Salt", url: "https://a.example/salt", description: "White.", page_age: "2026-10-01" },
        { title: "Pepper", url: "https://b.example/pepper", description: "Black." },
      ],
    },
  },
  parallel: {
    search_id: "s",
    results: [
      { title: "Salt", url: "https://a.example/salt", excerpts: ["White."], publish_date: "2026-10-01" },
      { title: "Pepper", url: "https://b.example/pepper", excerpts: ["Black."], publish_date: null },
    ],
  },
  firecrawl: {
    success: true,
    data: {
      web: [
        { title: "Salt", url: "https://a.example/salt", description: "White.", date: "2026-10-01" },
        { title: "Pepper", url: "https://b.example/pepper", description: "Black." },
      ],
    },
  },
  perplexity: {
    results: [
      { title: "Salt", url: "https://a.example/salt", snippet: "White.", date: "2026-10-01" },
      { title: "Pepper", url: "https://b.example/pepper", snippet: "Black." },
    ],
  },
  searxng: {
    results: [
      { title: "Salt", url: "https://a.example/salt", content: "White.", publishedDate: "2026-10-01" },
      { title: "Pepper", url: "https://b.example/pepper", content: "Black.", publishedDate: null },
    ],
  },
}

function setUp(engine: EngineName, answer: Answer, parameters: object = {}) {
  const configured = settings({ webSearch: searchSettings([engine]) })
  const [tool] = readServerTools([{ type: "openrouter:web_search", parameters }], configured).serverTools
  const mock = network({ "*": answer })
  return { tool: tool as RequestedTool, ...mock, deps: newDeps({ fetch: mock.fetch, settings: configured }) }
}

async function search(engine: EngineName, answer: Answer, parameters: object = {}, query = "salt") {
  const made = setUp(engine, answer, parameters)
  const outcome = await runServerTool(made.tool, JSON.stringify({ query }), made.deps, newTally())
  return { outcome, sent: made.sent, body: JSON.parse(made.sent[0]?.body || "{}") as Record<string, unknown> }
}

describe.each(engineNames)("%s", (engine) => {
  test("returns numbered results, their citations and the price", async () => {
    const { outcome, sent } = await search(engine, Response.json(ANSWERS[engine]))
    expect(outcome).toEqual({
      content:
        'Search results for "salt":\n\n1. Salt\nhttps://a.example/salt\nPublished: 2026-10-01\nWhite.\n\n2. Pepper\nhttps://b.example/pepper\nBlack.',
      isError: false,
      costNano: 5_000_000,
      searches: 1,
      item: { action: { type: "search", query: "salt", sources: PAGES.map(({ url }) => ({ type: "url", url })) } },
      citations: PAGES.map(({ url, title, snippet }) => ({ url, title, content: snippet })),
    })
    expect(sent).toHaveLength(1)
    expect(sent[0]?.url.startsWith(`https://${engine}.test/v1/`)).toBe(true)
    expect(sent[0]?.redirect).toBe("manual")
    expect(sent[0]?.url).not.toContain(SECRET)
    expect(sent[0]?.body).not.toContain(SECRET)
    expect(Object.values(sent[0]?.headers ?? {}).join(" ")).toContain(SECRET)
    expect(JSON.stringify(outcome)).not.toContain(SECRET)
  })

  test.each([
    ["an error that quotes the key", new Response(`bad key ${SECRET}`, { status: 401 }), "returned 401"],
    ["a failure", new Response("oops", { status: 500 }), "returned 500"],
    ["a redirect", redirect(`https://evil.test/?key=${SECRET}`), "returned 302"],
    ["a broken connection", new Error(`to ${SECRET}`), "could not be reached"],
    ["a response that is not JSON", new Response(`<html>${SECRET}`), "could not be read"],
    ["JSON that is not an object", Response.json([SECRET]), "could not be read"],
    ["an endless response", new Response("x".repeat(4_100_000)), "too large"],
  ])("reports %s to the model without the engine's text, at no cost", async (_, answer, texts) => {
    const { outcome, sent } = await search(engine, answer)
    expect(outcome).toMatchObject({ isError: true, costNano: 0, searches: 0, citations: [] })
    expect(outcome.content).toContain(texts)
    expect(JSON.stringify(outcome)).not.toContain(SECRET)
    expect(sent).toHaveLength(1)
  })

  test.each([
    {},
    { results: null },
    { results: [null, 1, "x", {}, { url: 3 }, { url: "javascript:alert(1)" }] },
    { web: 1, data: "x" },
  ])("finds nothing in %j", async (answer) => {
    const { outcome } = await search(engine, Response.json(answer))
    expect(outcome).toMatchObject({ isError: false, content: 'Search results for "salt":\n\nNothing was found.' })
  })

  test("drops results of excluded domains for any response of the engine", async () => {
    const { outcome } = await search(engine, Response.json(ANSWERS[engine]), { excluded_domains: ["a.example"] })
    expect(outcome.citations.map(({ url }) => url)).toEqual(["https://b.example/pepper"])
    const only = await search(engine, Response.json(ANSWERS[engine]), { allowed_domains: ["a.example/salt"] })
    expect(only.outcome.citations.map(({ url }) => url)).toEqual(["https://a.example/salt"])
  })

  test("limits the results and characters as requested", async () => {
    const { outcome } = await search(engine, Response.json(ANSWERS[engine]), { max_results: 1, max_characters: 3 })
    expect(outcome.citations).toEqual([
      { url: "https://a.example/salt", title: "Salt", content: "Whi\n[… cut here: 3 more characters]" },
    ])
  })
})

describe("the request to an engine", () => {
  const options = {
    max_results: 7,
    max_characters: 400,
    allowed_domains: ["a.example", "*.b.example"],
    user_location: { type: "approximate", country: "de", city: "Berlin" },
  }
  const searchWith = async (engine: EngineName, more: object = options) =>
    (await search(engine, Response.json({}), more)) satisfies { body: unknown }

  test("exa", async () => {
    const { body, sent } = await searchWith("exa", { ...options, mode: "deep" })
    expect(body).toEqual({
      query: "salt",
      type: "deep",
      numResults: 7,
      includeDomains: ["a.example", "b.example"],
      userLocation: "DE",
      contents: { text: { maxCharacters: 400 } },
    })
    expect(sent[0]).toMatchObject({ url: "https://exa.test/v1/search", headers: { "x-api-key": SECRET } })
  })

  test("tavily", async () => {
    const { body, sent } = await searchWith("tavily", { ...options, mode: "advanced" })
    expect(body).toEqual({
      query: "salt",
      search_depth: "advanced",
      max_results: 7,
      include_domains: ["a.example", "b.example"],
    })
    expect(sent[0]?.headers["authorization"]).toBe(`Bearer ${SECRET}`)
  })

  test("brave", async () => {
    const { sent } = await searchWith("brave")
    const url = new URL(sent[0]?.url ?? "")
    expect(url.pathname).toBe("/v1/web/search")
    expect(Object.fromEntries(url.searchParams)).toEqual({
      q: "salt (site:a.example OR site:b.example)",
      count: "7",
      text_decorations: "false",
      country: "DE",
    })
    expect(sent[0]).toMatchObject({ method: "GET", headers: { "x-subscription-token": SECRET } })
  })

  test("parallel", async () => {
    const { body } = await searchWith("parallel", { ...options, mode: "fast" })
    expect(body).toEqual({
      objective: "salt",
      search_queries: ["salt"],
      mode: "basic",
      advanced_settings: {
        max_results: 7,
        location: "de",
        excerpt_settings: { max_chars_per_result: 400 },
        source_policy: { include_domains: ["a.example", "b.example"] },
      },
    })
  })

  test("firecrawl", async () => {
    const excluded = { ...options, allowed_domains: null, excluded_domains: ["a.example", "b.example/blog"] }
    const { body } = await searchWith("firecrawl", excluded)
    expect(body).toEqual({ query: "salt -site:a.example", limit: 7, sources: [{ type: "web" }], country: "DE" })
  })

  test("perplexity", async () => {
    const { body } = await searchWith("perplexity", { ...options, search_context_size: "low" })
    expect(body).toEqual({
      query: "salt",
      max_results: 7,
      max_tokens_per_page: 100,
      search_context_size: "low",
      search_domain_filter: ["a.example", "b.example"],
      country: "DE",
    })
    const { body: other } = await searchWith("perplexity", { excluded_domains: ["a.example"] })
    expect(other["search_domain_filter"]).toEqual(["-a.example"])
  })

  test("searxng", async () => {
    const { sent } = await searchWith("searxng", { allowed_domains: ["a.example"] })
    expect(sent[0]?.url).toBe("https://searxng.test/v1/search?q=salt+site%3Aa.example&format=json")
  })

  test("has a query cut to 1,000 characters", async () => {
    const { body } = await search("exa", Response.json({}), {}, "salt ".repeat(1_000))
    expect((body["query"] as string).length).toBe(1_000)
  })

  test.each([
    ["low", 5_000],
    ["medium", 15_000],
    ["high", 30_000],
    [undefined, 2_000],
  ])("with context size %s requests %i characters per result", async (size, characters) => {
    const { body } = await search("exa", Response.json({}), { search_context_size: size })
    expect(body["contents"]).toEqual({ text: { maxCharacters: characters } })
  })
})

describe("a search", () => {
  test("requires a query", async () => {
    for (const query of ["", "   "]) {
      const { outcome, sent } = await search("exa", Response.json({}), {}, query)
      expect(outcome.isError).toBe(true)
      expect(sent).toEqual([])
    }
  })

  test("times out", async () => {
    const { tool, deps: around } = setUp("exa", () => new Promise<Response>(() => {}))
    if (around.settings.webSearch) around.settings.webSearch.timeoutMs = 20
    const outcome = await runServerTool(tool, '{"query":"salt"}', around, newTally())
    expect(outcome.content).toBe("The search failed: the search engine took too long.")
  })

  test("stays within max_total_results of the request, also concurrently", async () => {
    const {
      tool,
      sent,
      deps: around,
    } = setUp("exa", () => Response.json(ANSWERS.exa), {
      max_results: 2,
      max_total_results: 3,
    })
    const tally = newTally()
    const run = () => runServerTool(tool, '{"query":"salt"}', around, tally)
    const outcomes = await Promise.all([run(), run(), run()])
    expect(outcomes.map(({ citations }) => citations.length)).toEqual([2, 1, 0])
    expect(outcomes[2]?.content).toBe("This request may use 3 search results, which are used up.")
    expect(sent).toHaveLength(2)
    expect(tally.searchResults).toBe(3)
  })

  test("that failed does not count against max_total_results", async () => {
    const { tool, deps: around } = setUp("exa", () => new Response("", { status: 500 }), { max_total_results: 5 })
    const tally = newTally()
    await runServerTool(tool, '{"query":"salt"}', around, tally)
    expect(tally.searchResults).toBe(0)
  })

  test("cites each page once", async () => {
    const twice = { results: [...PAGES, ...PAGES].map((page) => ({ ...page, text: "" })) }
    const { outcome } = await search("exa", Response.json(twice))
    expect(outcome.citations).toHaveLength(2)
  })
})
