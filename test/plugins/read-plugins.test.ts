import { describe, expect, test } from "vitest"
import { type PluginSettings, readPlugins } from "../../src/plugins/read-plugins.ts"
import { rejectionOf, SECRET, searchSettings } from "../server-tools/mock-network.ts"

const moderation = { baseUrl: "https://moderation.test/v1", apiKey: SECRET, model: "m", timeoutMs: 100 }
const all: PluginSettings = { search: searchSettings(["exa", "brave"]), moderation }
type Given = { id: string; enabled?: boolean; [key: string]: unknown }
const read = (plugins: Given[], settings = all) => readPlugins(plugins, settings)

describe("the plugins of a request", () => {
  test("are empty without plugins", () => {
    for (const plugins of [undefined, null, []]) {
      expect(Object.values(readPlugins(plugins, all)).filter((value) => value !== undefined)).toEqual([])
    }
  })

  test("are read with their options", () => {
    const plugins = read([
      { id: "auto-router", allowed_models: ["a/*"], cost_tier: "high", pin_model: true },
      { id: "context-compression" },
      { id: "file-parser", pdf: { engine: "pdf-text" } },
      { id: "moderation" },
      { id: "response-healing", enabled: true },
      { id: "web", max_results: 3, engine: "brave", exclude_domains: ["a.example"], search_prompt: "Look:" },
      { id: "web-fetch", allowed_domains: ["a.example"], max_uses: 2 },
    ])
    expect(plugins).toMatchObject({
      autoRouter: { allowed_models: ["a/*"], cost_tier: "high", pin_model: true },
      contextCompression: { engine: "middle-out" },
      fileParser: { engine: "cloudflare-ai" },
      moderation,
      responseHealing: true,
      web: {
        config: { engine: "brave", maxResults: 3, allowed: [], excluded: [{ host: "a.example" }] },
        searchPrompt: "Look:",
        settings: all.search,
      },
      webFetch: { maxUses: 2, domains: { allowed: [{ host: "a.example" }] } },
    })
  })

  test("have defaults", () => {
    expect(read([{ id: "file-parser" }, { id: "web", engine: "native", user_location: null }])).toMatchObject({
      fileParser: { engine: undefined },
      web: { config: { engine: "exa", maxResults: 5 }, searchPrompt: undefined },
    })
    expect(read([{ id: "file-parser", pdf: { engine: "native" } }]).fileParser).toEqual({ engine: "native" })
  })

  test("that are disabled are ignored, known or not", () => {
    const off = [{ id: "fusion" }, { id: "web", engine: "nonsense" }, { id: "response-healing" }]
    const plugins = read(
      off.map((plugin) => ({ ...plugin, enabled: false })),
      { search: undefined, moderation: undefined },
    )
    expect(Object.values(plugins).filter((value) => value !== undefined)).toEqual([])
  })

  const has = "it has auto-router, context-compression, file-parser, moderation, response-healing, web and web-fetch."
  test.each<[Given[], string | RegExp]>([
    [[{ id: "fusion" }], `plugins[0].id: fusion is not available on this gateway; ${has}`],
    [
      [{ id: "web-fetch" }, { id: "pareto-router" }],
      `plugins[1].id: pareto-router is not available on this gateway; ${has}`,
    ],
    [[{ id: "auto-beta-router" }], `plugins[0].id: auto-beta-router is not available on this gateway; ${has}`],
    [[{ id: "web" }, { id: "web", enabled: false }], "plugins[1].id: web is in the list twice."],
    [
      [{ id: "file-parser", pdf: { engine: "mistral-ocr" } }],
      "plugins[0].pdf.engine: mistral-ocr is not available on this gateway; it accepts cloudflare-ai and native.",
    ],
    [[{ id: "file-parser", pdf: { engine: "x" } }], "plugins[0].pdf.engine: accepts cloudflare-ai and native."],
    [[{ id: "file-parser", pdf: "native" }], "plugins[0].pdf: must be an object."],
    [[{ id: "context-compression", engine: "head" }], 'plugins[0].engine: accepts "middle-out".'],
    [[{ id: "auto-router", cost_tier: "free" }], "plugins[0].cost_tier: accepts low, medium, high, xhigh, max."],
    [
      [{ id: "auto-router", cost_quality_tradeoff: 11 }],
      "plugins[0].cost_quality_tradeoff: must be an integer from 0 to 10.",
    ],
    [[{ id: "auto-router", pin_model: "yes" }], "plugins[0].pin_model: must be true or false."],
    [[{ id: "auto-router", allowed_models: "a/*" }], "plugins[0].allowed_models: must be an array of model patterns."],
    [[{ id: "auto-router", excluded_models: [""] }], "plugins[0].excluded_models[0]: must not be empty."],
    [
      [{ id: "auto-router", allowed_models: Array(1_025).fill("a") }],
      "plugins[0].allowed_models: must be at most 1024 patterns.",
    ],
    [
      [{ id: "auto-router", allowed_models: ["a".repeat(1_025)] }],
      "plugins[0].allowed_models[0]: must be at most 1024 characters.",
    ],
    [
      [{ id: "auto-router", excluded_models: Array(65).fill("a".repeat(1_024)) }],
      "plugins[0].excluded_models: must be at most 65536 characters in all.",
    ],
    [[{ id: "web", max_results: 0 }], "plugins[0].max_results: must be an integer from 1 to 20."],
    [[{ id: "web", x_search: {} }], "plugins[0].x_search: is not available on this gateway; leave it out."],
    [
      [{ id: "web", engine: "tavily" }],
      "plugins[0].engine: tavily is not configured here (TAVILY_API_KEY is not set); there is exa, brave.",
    ],
    [[{ id: "web", search_prompt: 1 }], "plugins[0].search_prompt: must be a string."],
    [[{ id: "web", include_domains: ["a b"] }], /^plugins\[0\]\.include_domains\[0\]: must be a domain without scheme/],
    [
      [{ id: "web-fetch", max_content_tokens: 0 }],
      "plugins[0].max_content_tokens: must be an integer from 1 to 200000.",
    ],
  ])("case %#: are rejected with their path", async (plugins, content) => {
    const message = await rejectionOf(() => read(plugins))
    if (typeof content === "string") expect(message).toBe(content)
    else expect(message).toMatch(content)
  })

  test("accept patterns at the limits", () => {
    const patterns = Array(64).fill("a".repeat(1_024)) as string[]
    expect(read([{ id: "auto-router", allowed_models: patterns }]).autoRouter?.allowed_models).toHaveLength(64)
  })

  test("without their configuration are rejected with the variables to set", async () => {
    const bare = { search: undefined, moderation: undefined }
    expect(await rejectionOf(() => read([{ id: "web" }], bare))).toMatch(
      /^plugins\[0\]\.id: web needs a search engine, and none is configured here: set EXA_API_KEY, .* or SEARXNG_BASE_URL\.$/,
    )
    expect(await rejectionOf(() => read([{ id: "moderation" }], bare))).toBe(
      "plugins[0].id: moderation needs a moderation model, and none is configured here: set OPENAI_API_KEY, MODERATION_API_KEY or MODERATION_BASE_URL.",
    )
  })
})
