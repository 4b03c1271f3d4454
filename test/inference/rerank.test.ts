import { expect, test } from "vitest"
import type { Env } from "../../src/config/env.ts"
import { rerankRequest } from "../../src/inference/media/rerank.ts"
import { configuredProviders } from "../../src/providers/configured.ts"

const documents = ["The Danube", { text: "The Alps" }]
const request = { model: "x/rerank", query: "rivers", documents, top_n: 1 }

function upstreamRequest(provider: string) {
  const env: unknown = { COHERE_API_KEY: "cohere-key", TOGETHER_API_KEY: "together-key" }
  const found = configuredProviders(env as Env).get(provider)
  if (!found) throw new Error(`The provider ${provider} is not configured.`)
  const outgoing = { upstreamId: "rerank-1", maxCompletionTokens: undefined, pseudonym: undefined }
  const { path, body } = rerankRequest(request).upstream.buildUpstreamRequest(found, outgoing)
  return { url: new URL(found.baseUrl + path).href, body }
}

test("Cohere ranks documents that are strings, outside its compatible API", () => {
  expect(upstreamRequest("cohere")).toEqual({
    url: "https://api.cohere.ai/v2/rerank",
    body: { model: "rerank-1", query: "rivers", documents: ["The Danube", "The Alps"], top_n: 1 },
  })
})

test("other providers rank the documents of the request", () => {
  expect(upstreamRequest("together")).toEqual({
    url: "https://api.together.xyz/v1/rerank",
    body: { model: "rerank-1", query: "rivers", documents, top_n: 1 },
  })
})
