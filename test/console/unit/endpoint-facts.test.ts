import { expect, test } from "vitest"
import { differencesOf } from "../../../src/console/pages/models/endpoint-facts.ts"

const STANDARD = {
  quantization: null as string | null,
  supported_parameters: ["seed", "tools"],
  supports_implicit_caching: false,
  supports_tool_choice: { auto: true, function: true, none: true, required: true },
}
const endpoint = (tag: string, change: Partial<typeof STANDARD>) => ({ tag, ...STANDARD, ...change })

test("an endpoint names its regions, its deviations and the parameters that only others take", () => {
  const choice = { auto: true, function: true, none: true, required: false }
  const first = endpoint("first", { quantization: "fp8", supports_implicit_caching: true })
  const second = endpoint("second", { supported_parameters: ["tools"], supports_tool_choice: choice })
  const providers = [
    { slug: "first", headquarters: "US", datacenters: ["US", "DE"] },
    { slug: "second", headquarters: "FR", datacenters: null },
  ]
  expect(differencesOf([first, second], providers)).toEqual([
    {
      endpoint: first,
      regions: "served from US, DE",
      quirks: ["weights in fp8", "caches prompts by itself"],
      missing: [],
    },
    { endpoint: second, regions: "company in FR", quirks: ["no tool_choice required"], missing: ["seed"] },
  ])
  expect(differencesOf([first], [])[0]?.regions).toBeNull()
})
