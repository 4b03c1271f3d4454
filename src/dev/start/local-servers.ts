import { outputsOf } from "../../models/model-kind.ts"
import { isObject, objectsOf } from "../../support/text/json.ts"

/** Model servers on this computer, found on their usual ports. */
const USUAL = [
  { slug: "ollama-local", name: "Ollama", port: 11_434 },
  { slug: "lmstudio", name: "LM Studio", port: 1_234 },
  { slug: "llamacpp", name: "llama.cpp", port: 8_080 },
  { slug: "vllm", name: "vLLM", port: 8_000 },
]
const TIMEOUT_MS = 400
const MODEL_ID = /^[\w.@:+~-]+(?:\/[\w.@:+~-]+)*$/

type Found = {
  slug: string
  name: string
  base_url: string
  completions: "text"
  output_limit_field: "max_tokens"
  models: { id: string; prompt: string; completion: string; output: string[] }[]
}

/** The servers that respond, in the shape of CUSTOM_PROVIDERS. Local tokens are free. */
export async function findLocalServers(ownPort: number): Promise<Found[]> {
  const requested = USUAL.filter(({ port }) => port !== ownPort).map(async ({ slug, name, port }) => {
    const baseUrl = `http://127.0.0.1:${port}/v1`
    const ids = await listModels(baseUrl)
    const models = ids.map((id) => ({ id, prompt: "0", completion: "0", output: [...outputsOf(id)] }))
    // Ollama ignores the newer name, all have this one.
    const fields = { completions: "text", output_limit_field: "max_tokens" } as const
    return models.length > 0 ? [{ slug, name, base_url: baseUrl, ...fields, models }] : []
  })
  return (await Promise.all(requested)).flat()
}

async function listModels(baseUrl: string): Promise<string[]> {
  try {
    const response = await fetch(`${baseUrl}/models`, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: "error" })
    const listed: unknown = await response.json()
    const ids = objectsOf(isObject(listed) ? listed["data"] : undefined).flatMap(({ id }) =>
      typeof id === "string" && MODEL_ID.test(id) ? [id] : [],
    )
    return [...new Set(ids)].slice(0, 200)
  } catch {
    return []
  }
}
