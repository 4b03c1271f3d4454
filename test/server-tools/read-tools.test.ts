import { describe, expect, test } from "vitest"
import { readServerTools, toolOfType } from "../../src/server-tools/read-tools.ts"
import { searchSettings, settings, rejectionOf } from "./mock-network.ts"

const read = (...tools: { type: string; [key: string]: unknown }[]) => readServerTools(tools, settings())

describe("the tools of a request", () => {
  test("are split into server tools and client tools, in both API formats", () => {
    const chat = { type: "function", function: { name: "look" } }
    const responses = { type: "function", name: "listen", parameters: null }
    const custom = { type: "custom", name: "smell" }
    const { serverTools, clientTools } = read(chat, { type: "openrouter:datetime" }, responses, custom)
    expect(clientTools).toEqual([chat, responses, custom])
    expect(serverTools).toMatchObject([{ kind: "datetime", definition: { name: "datetime" } }])
    expect(readServerTools(undefined, settings())).toEqual({ serverTools: [], clientTools: [] })
    expect(readServerTools(null, settings())).toEqual({ serverTools: [], clientTools: [] })
  })

  test.each([
    ["openrouter:datetime", "datetime", "openrouter:datetime", "incomplete"],
    ["service:datetime", "datetime", "service:datetime", "incomplete"],
    ["openrouter:web_fetch", "web_fetch", "openrouter:web_fetch", "incomplete"],
    ["service:web_search", "web_search", "service:web_search", "incomplete"],
    ["web_search", "web_search", "web_search_call", "failed"],
    ["web_search_preview", "web_search", "web_search_call", "failed"],
    ["web_search_preview_2025_03_11", "web_search", "web_search_call", "failed"],
    ["web_search_2025_08_26", "web_search", "web_search_call", "failed"],
    ["web_search_20250305", "web_search", "web_search_call", "failed"],
    ["web_search_20260318", "web_search", "web_search_call", "failed"],
    ["web_fetch_20250910", "web_fetch", "openrouter:web_fetch", "incomplete"],
  ])("%s maps to %s", (type, kind, itemType, failedStatus) => {
    expect(read({ type }).serverTools).toMatchObject([
      { type, kind, itemType, failedStatus, definition: { name: kind } },
    ])
  })

  test("are shown to the model as functions with a schema", () => {
    for (const { definition } of read({ type: "web_search" }, { type: "openrouter:web_fetch" }).serverTools) {
      expect(definition).toMatchObject({ description: expect.any(String), parameters: { type: "object" } })
      expect(definition.name).toMatch(/^[\w-]{1,64}$/)
    }
  })

  test("get names that differ from client functions and from each other", () => {
    const { serverTools } = read(
      { type: "web_search" },
      { type: "function", function: { name: "web_search" } },
      { type: "function", name: "gateway_web_search_2" },
      { type: "openrouter:web_search" },
      { type: "openrouter:datetime" },
    )
    const names = serverTools.map(({ definition }) => definition.name)
    expect(names).toEqual(["gateway_web_search", "gateway_web_search_3", "datetime"])
  })

  test.each([
    ["openrouter:bash", "openrouter:bash"],
    ["service:image_generation", "service:image_generation"],
    ["code_interpreter", "code_interpreter"],
    ["datetime", "datetime"],
    ["web_fetch", "web_fetch"],
    ["openrouter:toString", "openrouter:toString"],
    ["x".repeat(200), "x".repeat(100)],
  ])("%s is rejected by name", async (type, shown) => {
    expect(await rejectionOf(() => read({ type: "openrouter:datetime" }, { type }))).toBe(
      `tools[1].type: ${shown} is not available on this gateway; it has datetime, web_fetch and web_search, each after openrouter: or service:.`,
    )
  })

  test("reject an MCP server with a client's URL, with a hint to register it", async () => {
    expect(await rejectionOf(() => read({ type: "mcp", server_url: "https://mcp.example.com" }))).toBe(
      "tools[0].type: mcp is not available on this gateway; register the server with POST /mcp-servers and name it in server_label, without server_url.",
    )
  })

  test("are limited to 16 server tools", async () => {
    const many = Array.from({ length: 17 }, () => ({ type: "openrouter:datetime" }))
    expect(await rejectionOf(() => read(...many))).toBe("tools[16]: at most 16 server tools are allowed.")
  })

  test("can be selected by type or an alias of it", () => {
    const { serverTools } = read({ type: "web_search" }, { type: "openrouter:datetime" })
    expect(toolOfType(serverTools, "openrouter:datetime")?.kind).toBe("datetime")
    expect(toolOfType(serverTools, "web_search_preview")?.kind).toBe("web_search")
    expect(toolOfType(serverTools, "openrouter:web_fetch")).toBeUndefined()
    expect(toolOfType(serverTools, "function")).toBeUndefined()
  })
})

describe("options", () => {
  test.each([
    ["under parameters", { type: "openrouter:web_search", parameters: { max_uses: 3 } }],
    ["flat", { type: "web_search", max_uses: 3 }],
    ["under parameters of a shorthand", { type: "web_search", max_uses: null, parameters: { max_uses: 3 } }],
    ["in the messages format", { type: "web_fetch_20250910", name: "web_fetch", max_uses: 3 }],
  ])("are read %s", (_, tool) => {
    expect(read(tool).serverTools[0]?.maxUses).toBe(3)
  })

  test("that are unknown or null are ignored", () => {
    const tool = { type: "web_search", user_location: null, filters: null, search_content_types: ["text"] }
    expect(read(tool).serverTools).toHaveLength(1)
  })

  const ZONE = 'must be an IANA time zone, such as "Europe/Berlin"'
  const DOMAIN = "must be a domain without scheme or port, such as example.com, *.example.com or example.com/docs"
  test.each([
    [{ type: "openrouter:datetime", parameters: { timezone: "Moon" } }, `tools[0].parameters.timezone: ${ZONE}.`],
    [{ type: "openrouter:datetime", parameters: { timezone: 1 } }, `tools[0].parameters.timezone: ${ZONE}.`],
    [{ type: "openrouter:datetime", parameters: [] }, "tools[0].parameters: must be an object."],
    [
      { type: "openrouter:web_fetch", parameters: { max_uses: 0 } },
      "tools[0].parameters.max_uses: must be an integer of at least 1.",
    ],
    [
      { type: "openrouter:web_fetch", parameters: { max_content_tokens: 1.5 } },
      "tools[0].parameters.max_content_tokens: must be an integer from 1 to 200000.",
    ],
    [
      { type: "openrouter:web_fetch", parameters: { engine: "exa" } },
      "tools[0].parameters.engine: accepts auto, native or openrouter: the gateway fetches pages.",
    ],
    [
      { type: "web_fetch_20250910", allowed_domains: ["https://example.com"] },
      `tools[0].allowed_domains[0]: ${DOMAIN}.`,
    ],
    [
      { type: "openrouter:web_fetch", parameters: { blocked_domains: ["a.example", "exa*mple.com"] } },
      `tools[0].parameters.blocked_domains[1]: ${DOMAIN}.`,
    ],
    [{ type: "web_search", max_results: 21 }, "tools[0].max_results: must be an integer from 1 to 20."],
    [{ type: "web_search", engine: "google" }, /^tools\[0\]\.engine: accepts auto, native, exa, tavily/],
    [
      { type: "web_search", engine: "brave" },
      "tools[0].engine: brave is not configured here (BRAVE_API_KEY is not set); there is exa.",
    ],
    [
      { type: "web_search", parameters: { engine: "searxng" } },
      "tools[0].parameters.engine: searxng is not configured here (SEARXNG_BASE_URL is not set); there is exa.",
    ],
    [
      { type: "web_search", mode: "turbo" },
      "tools[0].mode: exa has no such mode; it has instant, fast, auto, deep-lite, deep, deep-reasoning.",
    ],
    [{ type: "web_search", search_context_size: "huge" }, "tools[0].search_context_size: accepts low, medium or high."],
    [
      { type: "openrouter:web_search", parameters: { x_search: {} } },
      "tools[0].parameters.x_search: is not available on this gateway; leave it out.",
    ],
    [
      {
        type: "openrouter:web_search",
        parameters: { allowed_domains: ["a.example"], excluded_domains: ["b.example"] },
      },
      "tools[0].parameters.excluded_domains: cannot be used together with a list of allowed domains.",
    ],
    [
      { type: "web_search", filters: { allowed_domains: ["a.example"], blocked_domains: ["b.example"] } },
      "tools[0].filters: cannot be used together with a list of allowed domains.",
    ],
    [
      { type: "web_search", filters: { allowed_domains: "a.example" } },
      "tools[0].filters.allowed_domains: must be an array of domains.",
    ],
    [{ type: "web_search", user_location: { type: "exact" } }, 'tools[0].user_location.type: accepts "approximate".'],
  ])("%j is rejected with its path", async (tool, content) => {
    expect(await rejectionOf(() => read(tool))).toMatch(content)
  })

  test("of web search are rejected without a search engine", async () => {
    const bare = settings({ webSearch: undefined })
    expect(await rejectionOf(() => readServerTools([{ type: "web_search_preview" }], bare))).toBe(
      "tools[0].type: web_search_preview needs a search engine, and none is configured here: set EXA_API_KEY, TAVILY_API_KEY, BRAVE_API_KEY, PARALLEL_API_KEY, FIRECRAWL_API_KEY, PERPLEXITY_API_KEY or SEARXNG_BASE_URL.",
    )
  })

  test("reject a mode for an engine without modes", async () => {
    const brave = settings({ webSearch: searchSettings(["brave"]) })
    expect(await rejectionOf(() => readServerTools([{ type: "web_search", mode: "fast" }], brave))).toBe(
      "tools[0].mode: brave has no such mode; leave it out.",
    )
  })
})
