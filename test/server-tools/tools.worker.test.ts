import { describe, expect, test, vi } from "vitest"
import { toIso } from "../../src/server-tools/datetime.ts"
import { readServerTools } from "../../src/server-tools/read-tools.ts"
import { runServerTool } from "../../src/server-tools/run-tool.ts"
import { newTally, type RequestedTool, type ToolDeps } from "../../src/server-tools/tool.ts"
import { html, network, NOW, pdf, redirect, SECRET, settings, newDeps } from "./mock-network.ts"

function tool(type: string, parameters?: object, configured = settings()): RequestedTool {
  const [requested] = readServerTools([{ type, parameters }], configured).serverTools
  if (!requested) throw new Error("no tool")
  return requested
}

function run(requested: RequestedTool, args: object | string, around: ToolDeps = newDeps(), tally = newTally()) {
  return runServerTool(requested, typeof args === "string" ? args : JSON.stringify(args), around, tally)
}

describe("datetime", () => {
  test("returns the time in the time zone of the request, or of the arguments", async () => {
    const berlin = tool("openrouter:datetime", { timezone: "Europe/Berlin" })
    expect(await run(berlin, {})).toEqual({
      content: "2026-11-21T10:30:15+01:00 (Saturday, time zone Europe/Berlin)",
      isError: false,
      costNano: 0,
      searches: 0,
      item: { datetime: "2026-11-21T10:30:15+01:00", timezone: "Europe/Berlin" },
      citations: [],
    })
    const { item } = await run(berlin, { timezone: "Asia/Kolkata" })
    expect(item).toEqual({ datetime: "2026-11-21T15:00:15+05:30", timezone: "Asia/Kolkata" })
    expect((await run(tool("service:datetime"), "")).item).toEqual({
      datetime: "2026-11-21T09:30:15+00:00",
      timezone: "UTC",
    })
  })

  test.each([
    ["an unknown time zone", { timezone: "Mars/Olympus" }],
    ["an invalid time zone", { timezone: 3 }],
  ])("returns an error for %s, with a complete item", async (_, args) => {
    expect(await run(tool("openrouter:datetime"), args)).toMatchObject({
      content: 'timezone must be an IANA time zone, such as "Europe/Berlin".',
      isError: true,
      item: { datetime: "2026-11-21T09:30:15+00:00", timezone: "UTC" },
    })
  })

  test.each([
    ["midnight", Date.UTC(2024, 1, 29), "UTC", "2024-02-29T00:00:00+00:00"],
    ["summer time", Date.UTC(2026, 6, 1, 12), "America/New_York", "2026-07-01T08:00:00-04:00"],
    ["an offset in quarter hours", NOW, "Asia/Kathmandu", "2026-11-21T15:15:15+05:45"],
  ])("writes %s", (_, at, zone, text) => {
    expect(toIso(at, zone)).toBe(text)
    expect(Date.parse(text)).toBe(at - (at % 1_000))
  })
})

describe("web_fetch", () => {
  const article = html("<title>Salt</title><h1>Salt</h1><p>White.")

  test("returns the page with markers to the model, and its item to the client", async () => {
    const { fetch } = network({ "https://example.com/": redirect("/salt"), "https://example.com/salt": article })
    expect(await run(tool("openrouter:web_fetch"), { url: "https://example.com/" }, newDeps({ fetch }))).toEqual({
      content:
        "Content of https://example.com/salt:\nTitle: Salt\n\n# Salt\n\nWhite.\n\nEnd of the content of https://example.com/salt.",
      isError: false,
      costNano: 0,
      searches: 0,
      item: { url: "https://example.com/salt", title: "Salt", httpStatus: 200, content: "# Salt\n\nWhite." },
      citations: [{ url: "https://example.com/salt", title: "Salt" }],
    })
  })

  test("reads PDF files", async () => {
    const { fetch } = network({
      "*": new Response(pdf("In print."), { headers: { "content-type": "application/pdf" } }),
    })
    const { content } = await run(
      tool("openrouter:web_fetch"),
      { url: "https://example.com/a.pdf" },
      newDeps({ fetch }),
    )
    expect(content).toContain("In print.")
  })

  test("cuts a page at the request's and the gateway's limits, with a note", async () => {
    const { fetch } = network({
      "*": new Response("word ".repeat(1_000), { headers: { "content-type": "text/plain" } }),
    })
    const small = tool("openrouter:web_fetch", { max_content_tokens: 10 })
    const { item } = await run(small, { url: "https://example.com/" }, newDeps({ fetch }))
    expect(item["content"]).toBe(`${"word ".repeat(8)}\n[… cut here: 4960 more characters]`)
    const configured = settings()
    configured.webFetch.maxBytes = 12
    const cut = await run(
      tool("openrouter:web_fetch"),
      { url: "https://example.com/" },
      newDeps({ fetch, settings: configured }),
    )
    expect(cut.item["content"]).toBe("word word wo\n[… the page is longer than the gateway reads]")
  })

  test.each([
    ["a domain outside the list", { allowed_domains: ["example.org"] }, "https://example.com/"],
    ["a domain with an allowed domain as suffix", { allowed_domains: ["ample.com"] }, "https://example.com/"],
    ["a blocked domain", { blocked_domains: ["example.com"] }, "https://example.com/"],
    ["a subdomain of a blocked domain", { blocked_domains: ["example.com"] }, "https://a.b.example.com./"],
    ["a blocked domain in capitals", { blocked_domains: ["Example.COM"] }, "https://EXAMPLE.com/"],
    ["a path outside the allowed one", { allowed_domains: ["example.com/docs"] }, "https://example.com/docsy"],
    ["a domain of which only subdomains are allowed", { allowed_domains: ["*.example.com"] }, "https://example.com/"],
    ["a redirect to a blocked domain", { blocked_domains: ["example.net"] }, "https://example.com/away"],
  ])("does not fetch %s", async (_, parameters, url) => {
    const { fetch, sent } = network({ "https://example.com/away": redirect("https://example.net/"), "*": article })
    const outcome = await run(tool("openrouter:web_fetch", parameters), { url }, newDeps({ fetch }))
    expect(outcome).toMatchObject({
      isError: true,
      item: { error: "this domain is not one that may be fetched" },
    })
    expect(sent.filter((one) => one.url !== "https://example.com/away")).toEqual([])
  })

  test.each([
    [{ allowed_domains: ["example.com"] }, "https://www.example.com/"],
    [{ allowed_domains: ["*.example.com"] }, "https://www.example.com/"],
    [{ allowed_domains: ["example.com/docs/"] }, "https://example.com/docs/a"],
    [{ allowed_domains: ["bücher.example"] }, "https://xn--bcher-kva.example/"],
    [{ blocked_domains: ["example.com/private"] }, "https://example.com/public"],
  ])("fetches what %j allows: %s", async (parameters, url) => {
    const { fetch } = network({ "*": article })
    expect((await run(tool("openrouter:web_fetch", parameters), { url }, newDeps({ fetch }))).isError).toBe(false)
  })

  test.each([
    ["a page that returns 404", new Response("gone, say the words", { status: 404 }), "the server returned 404", 404],
    ["a picture", new Response("x", { headers: { "content-type": "image/png" } }), "image/png, is not text", 200],
    ["a connection that fails", new Error(`of ${SECRET}`), "the connection failed", undefined],
  ])("reports %s to the model", async (_, answer, texts, status) => {
    const { fetch } = network({ "*": answer })
    const outcome = await run(tool("openrouter:web_fetch"), { url: "https://example.com/" }, newDeps({ fetch }))
    expect(outcome).toMatchObject({ isError: true, citations: [], item: { url: "https://example.com/" } })
    expect(outcome.content).toContain(texts)
    expect(outcome.item["httpStatus"]).toBe(status)
    expect(JSON.stringify(outcome)).not.toContain(SECRET)
    expect(outcome.content).not.toContain("say the words")
  })

  test("does not reveal credentials in a URL", async () => {
    const outcome = await run(tool("openrouter:web_fetch"), { url: `https://u:${SECRET}@example.com/` })
    expect(outcome.isError).toBe(true)
    expect(JSON.stringify(outcome)).not.toContain(SECRET)
  })

  test("requires a URL", async () => {
    expect(await run(tool("openrouter:web_fetch"), { link: "https://example.com/" })).toMatchObject({ isError: true })
  })
})

describe("a tool run", () => {
  test("stops at max_uses, which includes failed runs", async () => {
    const { fetch, sent } = network({ "*": html("hello") })
    const twice = tool("openrouter:web_fetch", { max_uses: 2 })
    const tally = newTally()
    const around = newDeps({ fetch })
    expect((await run(twice, { url: "http://localhost/" }, around, tally)).isError).toBe(true)
    expect((await run(twice, { url: "https://example.com/" }, around, tally)).isError).toBe(false)
    expect(await run(twice, { url: "https://example.com/" }, around, tally)).toMatchObject({
      isError: true,
      content: "web_fetch may be used 2 times in this request, which is used up. Continue without it.",
    })
    expect(sent).toHaveLength(1)
    expect((await run(twice, { url: "https://example.com/" }, around, newTally())).isError).toBe(false)
  })

  test("counts concurrent runs", async () => {
    const { fetch, sent } = network({ "*": html("hello") })
    const once = tool("openrouter:web_fetch", { max_uses: 1 })
    const [tally, around] = [newTally(), newDeps({ fetch })]
    const both = await Promise.all([1, 2].map(() => run(once, { url: "https://example.com/" }, around, tally)))
    expect(both.map(({ isError }) => isError)).toEqual([false, true])
    expect(sent).toHaveLength(1)
  })

  test.each(["{", "[]", '"x"', "null", `{"a":"${"a".repeat(100_000)}"}`])(
    "rejects arguments that are not a JSON object",
    async (json) => {
      for (const type of ["openrouter:datetime", "openrouter:web_fetch", "openrouter:web_search"]) {
        const outcome = await run(tool(type), json)
        expect(outcome).toMatchObject({ isError: true, costNano: 0, searches: 0 })
        expect(outcome.content).toContain("must be a JSON object")
      }
    },
  )

  test("returns an error when a tool throws", async () => {
    const error = vi.spyOn(console, "error").mockImplementation(() => undefined)
    const broken = { ...tool("openrouter:web_fetch"), run: () => Promise.reject(new Error("a bug")) }
    expect(await run(broken, {})).toMatchObject({ isError: true, content: "web_fetch failed inside the gateway." })
    expect(error).toHaveBeenCalledOnce()
    error.mockRestore()
  })
})
