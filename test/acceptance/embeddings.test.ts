import { beforeAll, expect, test } from "vitest"
import { newOrganization, openai, openrouter, type Organization } from "./world.ts"

let organization: Organization

beforeAll(async () => {
  organization = await newOrganization()
})

const input = ["the cat sat", "revenue grew"]

test("openai: embeddings are returned as base64, the client's default, or as floats", async () => {
  const client = openai(organization.apiKey)
  const packed = await client.embeddings.create({ model: "sim/embed", input })
  const floats = await client.embeddings.create({ model: "sim/embed", input, encoding_format: "float", dimensions: 16 })
  expect(packed.data.map(({ embedding }) => embedding.length)).toEqual([256, 256])
  expect(floats.data[0]?.embedding).toHaveLength(16)
  expect(packed.usage.prompt_tokens).toBe(6)
})

test("@openrouter/sdk: embeddings and their models parse strictly", async () => {
  const client = openrouter(organization.apiKey)
  const made = await client.embeddings.generate({ requestBody: { model: "sim/embed", input } })
  expect(typeof made === "string" ? [] : made.data).toHaveLength(2)
  const models = await client.embeddings.listModels()
  expect(JSON.stringify(models)).toContain("sim/embed")
})
