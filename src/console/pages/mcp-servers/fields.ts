import type { McpServer } from "../../api/types.ts"

/** Form of a server: entered values, validation, request body. */
export type Draft = {
  slug: string
  name: string
  url: string
  headers: string
  isOpen: boolean
  tools: string
  price: string
  prices: string
  seconds: string
}

const lines = (text: string) =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")

export function draftOf(server: McpServer | undefined): Draft {
  const pairs = (record: Record<string, unknown>, by: string) =>
    Object.entries(record)
      .map(([name, value]) => `${name}${by}${String(value)}`)
      .join("\n")
  return {
    slug: server?.slug ?? "",
    name: server?.name ?? "",
    url: server?.url ?? "",
    headers: pairs(server?.headers ?? {}, ": "),
    isOpen: (server?.allowed_tools ?? null) === null,
    tools: (server?.allowed_tools ?? []).join("\n"),
    price: server ? plain(server.price_per_call_usd) : "",
    prices: Object.entries(server?.tool_prices_usd ?? {})
      .map(([tool, price]) => `${tool} ${plain(price)}`)
      .join("\n"),
    seconds: String(server?.timeout_seconds ?? 60),
  }
}

/** Without an exponent: 0.000000007 and not 7e-9. */
function plain(price: number): string {
  return price === 0 ? "0" : price.toFixed(9).replace(/\.?0+$/, "")
}

/** Undefined for text that is not a list of headers. */
function headersOf(text: string): Record<string, string> | undefined {
  const pairs = lines(text).map((line) => /^([^:\s]+):\s*(.+)$/.exec(line))
  if (pairs.some((pair) => pair === null)) return undefined
  return Object.fromEntries(pairs.map((pair) => [pair?.[1] ?? "", pair?.[2] ?? ""]))
}

const isPrice = (text: string) => /^\d+(\.\d{1,9})?$/.test(text)

function pricesOf(text: string): Record<string, number> | undefined {
  const pairs = lines(text).map((line) => /^(\S+)\s+(\S+)$/.exec(line))
  if (pairs.some((pair) => !isPrice(pair?.[2] ?? ""))) return undefined
  return Object.fromEntries(pairs.map((pair) => [pair?.[1] ?? "", Number(pair?.[2])]))
}

type Faults = Partial<Record<keyof Draft, string>>

export function faultsOf({ slug, url, headers, price, prices, seconds }: Draft): Faults {
  return {
    ...(slug !== "" &&
      !/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(slug) && {
        slug: "must be lowercase letters, digits and hyphens",
      }),
    ...(url !== "" && !/^https?:\/\/./.test(url) && { url: "must begin with https://" }),
    ...(headersOf(headers) === undefined && {
      headers: "must be one header per line, such as Authorization: Bearer token",
    }),
    ...(price !== "" && !isPrice(price) && { price: "must be a number of USD with at most nine decimals" }),
    ...(pricesOf(prices) === undefined && { prices: "must be one tool per line with its price, such as query 0.002" }),
    ...(!/^[1-9]\d*$/.test(seconds) && { seconds: "must be a whole number from 1 to 600" }),
  }
}

export function toBody(draft: Draft) {
  const { name, slug, url, headers, isOpen, tools, price, prices, seconds } = draft
  return {
    name: name.trim() === "" ? slug : name.trim(),
    url: url.trim(),
    headers: headersOf(headers) ?? {},
    allowed_tools: isOpen ? null : lines(tools.replaceAll(",", "\n")),
    price_per_call_usd: Number(price),
    tool_prices_usd: pricesOf(prices) ?? {},
    timeout_seconds: Number(seconds),
  }
}
