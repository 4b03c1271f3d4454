import { homedir } from "node:os"
import { Failure } from "../failure.ts"
import { checkClients, checkClock, checkKey } from "../connect/check.ts"
import { type Command, print, table, text } from "./command.ts"

type Price = { prompt: string; completion: string } | null
type Row = {
  id: string
  endpoints: { provider: string; pricing: Price; price_override: Price; configured: boolean; disabled: boolean }[]
}
type Discovery = {
  provider: string
  models: number
  added: number
  removed: number
  unpriced: number
  error: string | null
  key_errors: string[]
}

/** Price per million tokens, as vendors show it. */
function perMillion(price: string): string {
  return `$${(Number(price) * 1_000_000).toFixed(2)}`
}

function stateOf({ configured, disabled, pricing, price_override: override }: Row["endpoints"][number]): string {
  if (!configured) return "no key"
  if (disabled) return "disabled"
  return (override ?? pricing) === null ? "price unknown" : "callable"
}

const PAGE = 1_000

type Catalogue = { rows: Row[]; seedDate: string | null }

async function readCatalogue(api: Parameters<Command["run"]>[0]["api"]): Promise<Catalogue> {
  type Page = { data: Row[]; total_count: number; seed_date: string | null }
  const rows: Row[] = []
  for (;;) {
    const page = await api.as<Page>("operator", "GET", `/catalogue?limit=${PAGE}&offset=${rows.length}`)
    rows.push(...page.data)
    if (page.data.length === 0 || rows.length >= page.total_count) return { rows, seedDate: page.seed_date }
  }
}

export const models: Command = {
  name: "models",
  summary:
    "Lists the catalogue: models with their providers, prices per million tokens, and whether they can be called.",
  takes: ["[NAME]"],
  options: { all: { type: "boolean", description: "also models whose provider has no key" } },
  async run(input) {
    const [name = ""] = input.positionals
    const rows = (await readCatalogue(input.api)).rows.filter(({ id }) => id.includes(name.toLowerCase()))
    const lines = rows.flatMap(({ id, endpoints }) =>
      endpoints
        .filter(({ configured }) => configured || input.values["all"] === true)
        .map((endpoint) => {
          const price = endpoint.price_override ?? endpoint.pricing
          const prices = price ? [perMillion(price.prompt), perMillion(price.completion)] : [null, null]
          return [id, endpoint.provider, ...prices, stateOf(endpoint)]
        }),
    )
    const empty = "No model of a configured provider. Set a key, such as OPENAI_API_KEY, or list all with --all."
    print(input, rows, lines.length > 0 ? table(["model", "provider", "input", "output", "state"], lines) : empty)
  },
}

export const providerTest: Command = {
  name: "provider test",
  summary: "Lists the models of a provider with the configured key and adds them to the catalogue.",
  takes: ["SLUG"],
  options: {},
  async run(input) {
    const body = { providers: input.positionals }
    const { data } = await input.api.as<{ data: Discovery[] }>("operator", "POST", "/catalogue/discover", body)
    const [found] = data
    if (!found) throw new Failure(`${input.positionals[0]} has a fixed list of models and was not called.`)
    print(input, found, describeDiscovery(found))
    return found.error === null ? 0 : 1
  },
}

export const providerSwitches: readonly Command[] = [
  { action: "stop", disabled: true, summary: "Stops all calls to a provider, with the gateway's keys and BYOK keys." },
  { action: "start", disabled: false, summary: "Starts a stopped provider again." },
].map(({ action, disabled, summary }) => ({
  name: `provider ${action}`,
  summary,
  takes: ["SLUG"],
  options: {},
  async run(input) {
    const [provider] = input.positionals
    const { data } = await input.api.as<{ data: { disabled_providers: string[] } }>(
      "operator",
      "PATCH",
      "/catalogue/providers",
      { provider, disabled },
    )
    const stopped = data.disabled_providers.join(", ") || "none"
    print(input, data, `${provider} is ${disabled ? "stopped" : "in use"}. Stopped providers: ${stopped}`)
  },
}))

export function describeDiscovery({
  provider,
  models,
  added,
  unpriced,
  error,
  key_errors: keyErrors,
}: Discovery): string {
  if (error !== null) return `${provider}: ${error}`
  const lacking =
    unpriced > 0
      ? `, ${unpriced} without a price: npm run gateway -- catalogue price MODEL ${provider} --prompt USD --completion USD`
      : ""
  const rejected = keyErrors.map((one) => `\n${provider}: ${one}`).join("")
  return `${provider}: lists ${models} models, ${added} new${lacking}${rejected}`
}

type Readiness = { status: string; fault?: string; components?: Record<string, string> }

export const doctor: Command = {
  name: "doctor",
  summary:
    "Checks what a call needs: configuration, dependencies, providers, prices, the API key, the clock, coding tools.\nChecks of providers and prices need BOOTSTRAP_MANAGEMENT_KEY.",
  takes: [],
  options: {
    stream: { type: "string", description: "a model: one short call checks that no proxy buffers streams" },
  },
  async run(input) {
    const { api } = input
    const response = await fetch(new URL("/ready", api.url)).catch(() => undefined)
    const ready = await response?.json().then(
      (body) => body as Readiness,
      () => undefined,
    )
    if (!response || !ready)
      throw new Failure(`There is no gateway at ${api.url}. Check the address and that it runs.`, 2)
    const checks = [
      checkClock(response.headers, Date.now()),
      ...(await checkKey(api, text(input, "stream"))),
      ...checkClients(homedir(), api.url),
    ]
    const seen = checks.map(({ is, about, message }) => `${MARKS[is]} ${about.padEnd(11)} ${message}`)
    const isSound = checks.every(({ is }) => is !== "broken")
    if (!api.hasOperatorKey) {
      const gateway = `${mark(ready.status === "ready")} gateway     ${ready.fault ?? ready.status}`
      print(input, { ready, checks }, [gateway, ...seen].join("\n"))
      return isSound && ready.status === "ready" ? 0 : 1
    }
    const { data: discoveries } = await api.as<{ data: Discovery[] }>("operator", "POST", "/catalogue/discover", {})
    const { rows, seedDate } = await readCatalogue(api)
    const endpoints = rows.flatMap((row) => row.endpoints)
    const callable = endpoints.filter((endpoint) => stateOf(endpoint) === "callable").length
    const failing = Object.entries(ready.components ?? {}).filter(([, state]) => state !== "ok" && state !== "absent")
    const hasCallable = callable > 0 || discoveries.length === 0
    const isGood = ready.status === "ready" && hasCallable && discoveries.every(({ error }) => error === null)
    const shipped = seedDate === null ? "" : ` of ${seedDate}`
    const lines = [
      `${mark(ready.status === "ready")} gateway     ${ready.fault ?? ready.status}`,
      ...failing.map(([name, state]) => `${mark(false)} ${name.padEnd(11)} ${state}`),
      ...discoveries.map((found) => `${mark(found.error === null)} provider    ${describeDiscovery(found)}`),
      ...(discoveries.length === 0 ? ["- provider    none is configured: set a key, such as OPENAI_API_KEY"] : []),
      `${callable === 0 && hasCallable ? MARKS.absent : mark(hasCallable)} catalogue   ${rows.length} models${shipped}, ${callable} endpoints of providers can be called`,
      ...seen,
    ]
    print(
      input,
      { ready, providers: discoveries, models: rows.length, seed_date: seedDate, callable, checks },
      lines.join("\n"),
    )
    return isGood && isSound ? 0 : 1
  },
}

const MARKS = { good: "ok  ", broken: "FAIL", absent: "-   " } as const
const mark = (isGood: boolean) => MARKS[isGood ? "good" : "broken"]
