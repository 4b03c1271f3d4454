import type { ToolSettings, ToolDeps } from "../../src/server-tools/tool.ts"
import type { SearchSettings } from "../../src/server-tools/web-search/configured.ts"
import type { EngineName } from "../../src/server-tools/web-search/engines.ts"

export const SECRET = "sk-never-to-be-shown-0123456789"
export const PUBLIC = "93.184.216.34"
export const NOW = Date.UTC(2026, 10, 21, 9, 30, 15)

export type Sent = { url: string; method: string; headers: Record<string, string>; body: string; redirect: unknown }

export type Answer = Response | Error | ((sent: Sent, signal: AbortSignal | undefined) => Response | Promise<Response>)

/** A fake network: responses by URL, and a list of all requests. */
export function network(answers: Record<string, Answer> = {}): { fetch: typeof fetch; sent: Sent[] } {
  const sent: Sent[] = []
  const respond = async (input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> => {
    const url = input instanceof Request ? input.url : String(input)
    const headers = Object.fromEntries(new Headers(init.headers))
    const call = {
      url,
      method: init.method ?? "GET",
      headers,
      body: (init.body as string) ?? "",
      redirect: init.redirect,
    }
    sent.push(call)
    const answer = answers[url] ?? answers["*"]
    if (answer === undefined) throw new Error(`${url} was asked with ${JSON.stringify(headers)}`)
    if (answer instanceof Error) throw answer
    return typeof answer === "function" ? answer(call, init.signal ?? undefined) : answer.clone()
  }
  return { fetch: respond, sent }
}

export function html(body: string, headers: Record<string, string> = {}): Response {
  return new Response(body, { headers: { "content-type": "text/html; charset=utf-8", ...headers } })
}

export function redirect(location: string, status = 302): Response {
  return new Response(null, { status, headers: { location } })
}

export function searchSettings(names: EngineName[] = ["exa"], more: Partial<SearchSettings> = {}): SearchSettings {
  return {
    engines: new Map(names.map((name) => [name, { baseUrl: `https://${name}.test/v1`, apiKey: SECRET }])),
    preferred: names[0] ?? "exa",
    priceNano: 5_000_000,
    timeoutMs: 1_000,
    ...more,
  }
}

export function settings(more: Partial<ToolSettings> = {}): ToolSettings {
  return {
    webFetch: { allowedHosts: new Set(), timeoutMs: 1_000, maxBytes: 100_000 },
    webSearch: searchSettings(),
    ...more,
  }
}

export function newDeps(more: Partial<ToolDeps> = {}): ToolDeps {
  return {
    fetch: network().fetch,
    now: () => NOW,
    resolve: async () => [PUBLIC],
    isGuarded: true,
    signal: new AbortController().signal,
    settings: settings(),
    ...more,
  }
}

/** A PDF with one page for each text; an empty text is a page without text. */
export function pdf(...texts: string[]): Uint8Array {
  const objects = ["<</Type/Catalog/Pages 2 0 R>>", "", "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"]
  const pages = texts.map((text) => {
    const content = text === "" ? "" : `BT /F1 12 Tf 10 100 Td (${text}) Tj ET`
    objects.push(`<</Length ${content.length}>>\nstream\n${content}\nendstream`)
    const resources = "<</Font<</F1 3 0 R>>>>"
    objects.push(
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents ${objects.length} 0 R/Resources${resources}>>`,
    )
    return `${objects.length} 0 R`
  })
  objects[1] = `<</Type/Pages/Kids[${pages.join(" ")}]/Count ${pages.length}>>`
  let file = "%PDF-1.4\n"
  const offsets = objects.map((object, index) => {
    const offset = file.length
    file += `${index + 1} 0 obj${object}endobj\n`
    return `${String(offset).padStart(10, "0")} 00000 n \n`
  })
  const start = file.length
  file += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.join("")}`
  file += `trailer<</Root 1 0 R/Size ${objects.length + 1}>>\nstartxref\n${start}\n%%EOF`
  return new TextEncoder().encode(file)
}

/** The message of the error that a call throws. */
export async function rejectionOf(work: () => unknown): Promise<string> {
  try {
    await work()
  } catch (error) {
    return (error as Error).message
  }
  throw new Error("was taken")
}
