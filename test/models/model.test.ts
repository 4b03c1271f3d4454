import { outputsOf } from "../../src/models/model-kind.ts"
import { Model$inboundSchema } from "@openrouter/sdk/models/model.js"
import { ListEndpointsResponse$inboundSchema } from "@openrouter/sdk/models/listendpointsresponse.js"
import { describe, expect, test } from "vitest"
import { CatalogueBody, toCatalogueModels } from "../../src/models/admin.ts"
import { embeddedCatalogue } from "../../src/embedded/catalogue.ts"
import { toCustomModels } from "../../src/models/custom-models.ts"
import { toModel, toModelEndpoints, toProviderListing } from "../../src/models/model.ts"
import { Model, ModelEndpoints } from "../../src/models/schemas.ts"
import seed from "../../src/models/seed.json"
import { parseCustomProviders, toProvider } from "../../src/providers/custom.ts"

const unpriced = parseCustomProviders(
  "CUSTOM_PROVIDERS",
  '[{"slug":"local","base_url":"http://127.0.0.1:11434/v1","models":[{"id":"qwen2.5:7b"}]}]',
)
const all = [...toCatalogueModels(CatalogueBody.parse(seed)), ...embeddedCatalogue]

describe("a model in the API", () => {
  test.each(all.map((model) => [model.id, model] as const))(
    "%s matches the schema of the published client",
    (_, model) => {
      const shown = toModel(model)
      expect(Model.strict().safeParse(shown).error).toBeUndefined()
      expect(Model$inboundSchema.safeParse(shown).error).toBeUndefined()
      const endpoints = toModelEndpoints(model, new Map())
      expect(ModelEndpoints.shape.data.strict().safeParse(endpoints).error).toBeUndefined()
      expect(ListEndpointsResponse$inboundSchema.safeParse(endpoints).error).toBeUndefined()
    },
  )

  test("has the prices of its cheapest endpoint, and zero for requests and images", () => {
    const echo = embeddedCatalogue.find(({ id }) => id === "sim/echo")
    expect(echo && toModel(echo)).toMatchObject({
      id: "sim/echo",
      canonical_slug: "sim/echo",
      architecture: { modality: "text->text" },
      pricing: { prompt: "0.000001", completion: "0.000002", request: "0", image: "0" },
      links: { details: "/api/v1/models/sim/echo/endpoints" },
    })
  })

  test("is omitted without a price", () => {
    expect(unpriced.flatMap(toCustomModels).map(toModel)).toEqual([undefined])
  })
})

test("a custom provider is listed with null for unknown fields", () => {
  expect(unpriced.map(toProvider).map((one) => toProviderListing(one, true))).toEqual([
    {
      name: "local",
      slug: "local",
      headquarters: null,
      datacenters: null,
      privacy_policy_url: null,
      terms_of_service_url: null,
      status_page_url: null,
      disabled: true,
    },
  ])
})

describe("the output of a model by its name", () => {
  test.each([
    ["text-embedding-3-small", "embeddings"],
    ["nomic-embed-text:latest", "embeddings"],
    ["BAAI/bge-m3", "embeddings"],
    ["bge-reranker-v2-m3", "rerank"],
    ["omni-moderation-latest", "decisions"],
    ["mistral-moderation-2411", "decisions"],
    ["whisper-large-v3", "transcription"],
    ["gpt-4o-mini-tts", "speech"],
    ["black-forest-labs/FLUX.1-schnell", "image"],
    ["gpt-4.1-mini", "text"],
    ["llama-3.3-70b-instruct", "text"],
    ["gemini-2.5-flash", "text"],
  ])("%s: %s", (name, kind) => {
    expect(outputsOf(name)).toEqual([kind])
  })
})
