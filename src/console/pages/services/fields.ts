import type { PassthroughService } from "../../api/types.ts"

/** Form of a service: entered values, validation, request body. */
export type Draft = {
  slug: string
  name: string
  baseUrl: string
  headers: string
  query: string
  rules: string
  seconds: string
}

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]

const lines = (text: string) =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")

const pairs = (record: Record<string, string>) =>
  Object.entries(record)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n")

export function draftOf(service: PassthroughService | undefined): Draft {
  return {
    slug: service?.slug ?? "",
    name: service?.name ?? "",
    baseUrl: service?.base_url ?? "",
    headers: pairs(service?.headers ?? {}),
    query: pairs(service?.query ?? {}),
    rules: (service?.rules ?? []).map(ruleText).join("\n"),
    seconds: String(service?.timeout_seconds ?? 60),
  }
}

type Rule = PassthroughService["rules"][number]

export function ruleText({ methods, path, price_usd: price }: Rule): string {
  return [methods?.join(","), path, price === 0 ? undefined : plain(price)]
    .filter((part) => part !== undefined)
    .join(" ")
}

/** Without an exponent: 0.000000007 and not 7e-9. */
export function plain(price: number): string {
  return price === 0 ? "0" : price.toFixed(9).replace(/\.?0+$/, "")
}

/** Undefined for a line that is not a rule. */
function ruleOf(line: string): { methods: string[] | null; path: string; price_usd: number } | undefined {
  const [, methods, path = "", price = "0"] =
    /^(?:([A-Za-z,]+)\s+)?(\/\S*)(?:\s+(\d+(?:\.\d{1,9})?))?$/.exec(line) ?? []
  const methodNames = methods?.toUpperCase().split(",") ?? null
  if (path === "" || /[?#%\\]/.test(path) || methodNames?.some((method) => !METHODS.includes(method))) return undefined
  return { methods: methodNames, path, price_usd: Number(price) }
}

/** Undefined for text that is not a list of names with values. */
function valuesOf(text: string): Record<string, string> | undefined {
  const found = lines(text).map((line) => /^([^:\s]+):\s*(.+)$/.exec(line))
  if (found.some((pair) => pair === null)) return undefined
  return Object.fromEntries(found.map((pair) => [pair?.[1] ?? "", pair?.[2] ?? ""]))
}

type Faults = Partial<Record<keyof Draft, string>>

export function faultsOf({ slug, baseUrl, headers, query, rules, seconds }: Draft): Faults {
  const wrong = lines(rules).find((line) => ruleOf(line) === undefined)
  return {
    ...(slug !== "" && !/^[a-z0-9][a-z0-9-]*$/.test(slug) && { slug: "must be lowercase letters, digits and hyphens" }),
    ...(baseUrl !== "" &&
      !/^https?:\/\/[^?#\s]+$/.test(baseUrl) && { baseUrl: "must begin with https:// and have no query" }),
    ...(valuesOf(headers) === undefined && {
      headers: "must be one header per line, such as Authorization: Bearer token",
    }),
    ...(valuesOf(query) === undefined && { query: "must be one parameter per line, such as api_key: token" }),
    ...(wrong !== undefined && { rules: `“${wrong}” is not a rule. Example: GET /v1/search* 0.005` }),
    ...(!/^[1-9]\d*$/.test(seconds) && { seconds: "must be a whole number from 1 to 600" }),
  }
}

export function toBody({ name, slug, baseUrl, headers, query, rules, seconds }: Draft) {
  return {
    name: name.trim() === "" ? slug : name.trim(),
    base_url: baseUrl.trim(),
    headers: valuesOf(headers) ?? {},
    query: valuesOf(query) ?? {},
    rules: lines(rules).map(ruleOf),
    timeout_seconds: Number(seconds),
  }
}
