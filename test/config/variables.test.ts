import { globSync, readFileSync } from "node:fs"
import path from "node:path"
import { describe, expect, test } from "vitest"
import { parseVariables, variables } from "../../src/config/variables.ts"

const root = path.join(import.meta.dirname, "../..")
const textOf = (file: string) => readFileSync(path.join(root, file), "utf8")
const sources = globSync(["src/**/*.ts", "durable-objects/**/*.ts"], { cwd: root }).map(
  (file) => [file.split(path.sep).join("/"), textOf(file)] as const,
)

describe("an invalid variable is an error with its name, its value and what is accepted", () => {
  test.each([
    ["FREE_REQUESTS_PER_MINUTE", "lots", "must be a whole number of requests, at least 0"],
    ["GENERATION_RETENTION_DAYS", "5", "must be a whole number of days, at least 35"],
    ["AUDIT_RETENTION_DAYS", "0", "must be a whole number of days, at least 1"],
    ["CLIENT_DIALECT", "openruter", "must be one of service, openrouter"],
    ["IDLE_TIMEOUT_MS", "-1", "must be a whole number of milliseconds, at least 1"],
    ["KEEPALIVE_MS", "1e4", "must be a whole number of milliseconds, at least 1"],
    ["FILES_QUOTA_BYTES", "10 GB", "must be a whole number of bytes, at least 0"],
    ["FREE_PAID_FROM_USD", "$10", "must be an amount of USD, such as 10 or 2.5"],
    ["INTERN_HOST", "docker", "must be one of embedded, daemon, cloudflare-container"],
    ["PUBLIC_URL", "gateway.example.com", "must be an http or https URL, such as https://gateway.example.com"],
    ["INTERN_DOMAIN", "interns/example", "must be a domain name, such as interns.example.com"],
    ["WEB_FETCH_DNS_URL", "1.1.1.1", "must be an http or https URL, such as https://cloudflare-dns.com/dns-query"],
    ["STAGE", "staging", "must be one of development, production"],
  ])("%s=%s", (name, value, accepted) => {
    const { faults } = parseVariables({ [name]: value })
    expect(faults).toEqual([`${name}: ${accepted}, but is ${JSON.stringify(value)}.`])
  })
})

test("a price that is not a decimal string is an error", () => {
  const { faults } = parseVariables({ WEB_SEARCH_PRICE: "cheap" })
  expect(faults).toEqual([
    expect.stringMatching(/^WEB_SEARCH_PRICE: must be a decimal string of USD.*, but is "cheap"\.$/),
  ])
})

test("all invalid variables are reported at once, each with its default in use", () => {
  const { config, faults } = parseVariables({ KEEPALIVE_MS: "soon", INTERN_HOST: "docker" })
  expect(faults).toHaveLength(2)
  expect(config).toMatchObject({ KEEPALIVE_MS: 10_000, INTERN_HOST: "embedded" })
})

test("an empty value counts as unset", () => {
  expect(parseVariables({ KEEPALIVE_MS: "", STAGE: "" }).faults).toEqual([])
})

test("values are parsed", () => {
  const { config } = parseVariables({ INTERN_DOMAIN: "Interns.Example.com.", FREE_PAID_FROM_USD: "2.5" })
  expect(config).toMatchObject({ INTERN_DOMAIN: "interns.example.com", FREE_PAID_FROM_USD: 2.5 })
})

test("docs/configuration.md describes every variable", () => {
  const page = textOf("docs/configuration.md")
  for (const [name, { effect }] of Object.entries(variables)) {
    expect(page).toContain(`\`${name}\``)
    expect(page).toContain(effect)
  }
})

test("the Worker reads no variable that is not defined in variables.ts", () => {
  const defined = new Set([...Object.keys(variables), "MASTER_KEY", "BOOTSTRAP_MANAGEMENT_KEY"])
  const bindings = [
    "DB",
    "CATALOG",
    "FILES",
    "LEDGER",
    "INTERN",
    "INTERN_CONTAINER",
    "DELIVERY",
    "BATCH",
    "REALTIME",
    "BROADCAST",
    "RATE",
    "METRICS",
    "EMBEDDED",
    "ASSETS",
  ]
  const read = sources
    .filter(([file]) => !/^src\/(?:dev|daemon|embedded|local|console)\//.test(file))
    .flatMap(([file, text]) =>
      [...text.matchAll(/\benv\.([A-Z][A-Z_]+)\b/g)].map((match) => [file, match[1] ?? ""] as const),
    )
  expect(read.length).toBeGreaterThan(50)
  expect(read.filter(([, name]) => !defined.has(name) && !bindings.includes(name))).toEqual([])
})
