import type { Pricing } from "../../money/pricing.ts"

/**
 * Which provider has which model under which id. Maintained by hand, because a similar name can be another model at
 * another price. Omitted on purpose: models that a provider serves only in another API format (OpenAI's `-pro` and
 * `-codex`), moving aliases (`deepseek-chat`), models without list prices (`sonar-deep-research` bills its searches).
 */
type Upstream = {
  /** Provider id in @pydantic/genai-prices. */
  prices: string
  /** Trains on requests, or may, depending on the account. */
  collectsData: boolean
  /** Upstream id by model id. */
  models: Readonly<Record<string, string>>
  quantization?: Readonly<Record<string, string>>
}

const upstreamNames = (author: string, slugs: string, prefix = ""): Record<string, string> =>
  Object.fromEntries(slugs.split(" ").map((slug) => [`${author}/${slug}`, prefix + slug]))

const fireworks = (ids: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(ids).map(([model, id]) => [model, `accounts/fireworks/models/${id}`]))

export const upstreams: Readonly<Record<string, Upstream>> = {
  openai: {
    prices: "openai",
    collectsData: false,
    models: {
      ...upstreamNames(
        "openai",
        "gpt-3.5-turbo gpt-4 gpt-4-turbo gpt-4.1 gpt-4.1-mini gpt-4.1-nano gpt-4o gpt-4o-2024-05-13",
      ),
      ...upstreamNames(
        "openai",
        "gpt-4o-2024-08-06 gpt-4o-2024-11-20 gpt-4o-mini gpt-4o-mini-2024-07-18 o1 o3 o3-mini o4-mini",
      ),
      ...upstreamNames(
        "openai",
        "gpt-5 gpt-5-mini gpt-5-nano gpt-5.1 gpt-5.2 gpt-5.4 gpt-5.4-mini gpt-5.4-nano gpt-5.5",
      ),
      ...upstreamNames("openai", "gpt-5.6-luna gpt-5.6-sol gpt-5.6-terra"),
      "openai/gpt-5.2-chat": "gpt-5.2-chat-latest",
      ...upstreamNames("openai", "text-embedding-3-small text-embedding-3-large text-embedding-ada-002"),
    },
  },
  anthropic: {
    prices: "anthropic",
    collectsData: false,
    // There, dots in versions are hyphens.
    models: Object.fromEntries(
      "fable-5 haiku-4.5 opus-4.1 opus-4.5 opus-4.6 opus-4.7 opus-4.8 opus-5 sonnet-4.5 sonnet-4.6 sonnet-5"
        .split(" ")
        .map((name) => [`anthropic/claude-${name}`, `claude-${name.replace(".", "-")}`]),
    ),
  },
  groq: {
    prices: "groq",
    collectsData: false,
    models: {
      "meta-llama/llama-3.1-8b-instruct": "llama-3.1-8b-instant",
      "meta-llama/llama-3.3-70b-instruct": "llama-3.3-70b-versatile",
      "meta-llama/llama-4-maverick": "meta-llama/llama-4-maverick-17b-128e-instruct",
      "meta-llama/llama-4-scout": "meta-llama/llama-4-scout-17b-16e-instruct",
      "moonshotai/kimi-k2-0905": "moonshotai/kimi-k2-instruct-0905",
      ...upstreamNames("openai", "gpt-oss-120b gpt-oss-20b", "openai/"),
      "qwen/qwen3-32b": "qwen/qwen3-32b",
    },
  },
  together: {
    prices: "together",
    collectsData: false,
    models: {
      "meta-llama/llama-3.1-8b-instruct": "meta-llama/Meta-Llama-3.1-8B-Instruct-Turbo",
      "meta-llama/llama-3.1-70b-instruct": "meta-llama/Meta-Llama-3.1-70B-Instruct-Turbo",
      "meta-llama/llama-3.3-70b-instruct": "meta-llama/Llama-3.3-70B-Instruct-Turbo",
      "meta-llama/llama-4-maverick": "meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8",
      "meta-llama/llama-4-scout": "meta-llama/Llama-4-Scout-17B-16E-Instruct",
    },
    quantization: { "meta-llama/llama-4-maverick": "fp8" },
  },
  fireworks: {
    prices: "fireworks",
    collectsData: false,
    models: fireworks({
      "deepseek/deepseek-r1-0528": "deepseek-r1-0528",
      "deepseek/deepseek-chat-v3-0324": "deepseek-v3-0324",
      "deepseek/deepseek-v3.2": "deepseek-v3p2",
      "deepseek/deepseek-v4-flash": "deepseek-v4-flash",
      "deepseek/deepseek-v4-flash-0731": "deepseek-v4-flash-0731",
      "deepseek/deepseek-v4-pro": "deepseek-v4-pro",
      "google/gemma-3-27b-it": "gemma-3-27b-it",
      "meta-llama/llama-3.1-8b-instruct": "llama-v3p1-8b-instruct",
      "meta-llama/llama-4-maverick": "llama4-maverick-instruct-basic",
      "minimax/minimax-m2.1": "minimax-m2p1",
      "minimax/minimax-m2.7": "minimax-m2p7",
      "minimax/minimax-m3": "minimax-m3",
      "moonshotai/kimi-k2.5": "kimi-k2p5",
      "moonshotai/kimi-k2.6": "kimi-k2p6",
      "moonshotai/kimi-k2.7-code": "kimi-k2p7-code",
      "moonshotai/kimi-k3": "kimi-k3",
      "nvidia/nemotron-3-ultra-550b-a55b": "nemotron-3-ultra-nvfp4",
      "openai/gpt-oss-120b": "gpt-oss-120b",
      "openai/gpt-oss-20b": "gpt-oss-20b",
      "qwen/qwen2.5-vl-72b-instruct": "qwen2p5-vl-72b-instruct",
      "qwen/qwen3-235b-a22b": "qwen3-235b-a22b",
      "qwen/qwen3.6-plus": "qwen3p6-plus",
      "qwen/qwen3.7-plus": "qwen3p7-plus",
      "thinkingmachines/inkling": "inkling",
      "z-ai/glm-4.7": "glm-4p7",
      "z-ai/glm-5.1": "glm-5p1",
      "z-ai/glm-5.2": "glm-5p2",
    }),
    quantization: { "nvidia/nemotron-3-ultra-550b-a55b": "nvfp4" },
  },
  deepseek: {
    prices: "deepseek",
    collectsData: true,
    models: upstreamNames("deepseek", "deepseek-v4-flash deepseek-v4-pro"),
  },
  xai: {
    prices: "x-ai",
    collectsData: false,
    models: upstreamNames("x-ai", "grok-4.20 grok-4.3 grok-4.5 grok-4.6 grok-build-0.1"),
  },
  mistral: {
    prices: "mistral",
    collectsData: true,
    models: {
      ...upstreamNames(
        "mistralai",
        "codestral-2508 devstral-2512 ministral-3b-2512 ministral-8b-2512 ministral-14b-2512",
      ),
      ...upstreamNames("mistralai", "mistral-large-2512 mistral-medium-3-5 mistral-small-2603 mistral-embed"),
      "mistralai/mistral-medium-3": "mistral-medium-2505",
      "mistralai/mistral-medium-3.1": "mistral-medium-2508",
      "mistralai/mistral-nemo": "open-mistral-nemo",
    },
  },
  cerebras: {
    prices: "cerebras",
    collectsData: false,
    models: { "openai/gpt-oss-120b": "gpt-oss-120b", "google/gemma-4-31b-it": "gemma-4-31b" },
  },
  perplexity: {
    prices: "perplexity",
    collectsData: false,
    models: upstreamNames("perplexity", "sonar sonar-pro sonar-reasoning-pro"),
  },
  moonshotai: {
    prices: "moonshotai",
    collectsData: true,
    models: upstreamNames("moonshotai", "kimi-k2.5 kimi-k2.6 kimi-k2.7-code kimi-k3"),
  },
  "google-ai-studio": {
    prices: "google",
    collectsData: true,
    models: {
      ...upstreamNames("google", "gemini-2.5-flash gemini-2.5-flash-lite gemini-2.5-pro gemini-3-flash-preview"),
      ...upstreamNames("google", "gemini-3.1-flash-lite gemini-3.1-pro-preview gemini-3.5-flash gemini-3.5-flash-lite"),
      ...upstreamNames("google", "gemini-3.6-flash gemini-3.7-flash gemini-embedding-001"),
    },
  },
  cohere: {
    prices: "cohere",
    collectsData: true,
    models: {
      "cohere/command-a": "command-a-03-2025",
      ...upstreamNames("cohere", "command-r-08-2024 command-r-plus-08-2024 command-r7b-12-2024 embed-v4.0"),
    },
  },
}

/** Provider whose price list applies to a model's author: resellers pass on its tiers and request fees. */
export const authorPrices: Readonly<Record<string, string>> = {
  anthropic: "anthropic",
  cohere: "cohere",
  deepseek: "deepseek",
  google: "google",
  mistralai: "mistral",
  moonshotai: "moonshotai",
  openai: "openai",
  perplexity: "perplexity",
  "x-ai": "x-ai",
}

/** Embedding models, which the model list does not have. */
export const embeddingModels: Readonly<Record<string, { name: string; context: number; tokenizer: string }>> = {
  "cohere/embed-v4.0": { name: "Cohere: Embed v4.0", context: 128_000, tokenizer: "Cohere" },
  "google/gemini-embedding-001": { name: "Google: Gemini Embedding 001", context: 2_048, tokenizer: "Gemini" },
  "mistralai/mistral-embed": { name: "Mistral: Mistral Embed", context: 8_192, tokenizer: "Mistral" },
  "openai/text-embedding-3-large": { name: "OpenAI: Text Embedding 3 Large", context: 8_192, tokenizer: "GPT" },
  "openai/text-embedding-3-small": { name: "OpenAI: Text Embedding 3 Small", context: 8_192, tokenizer: "GPT" },
  "openai/text-embedding-ada-002": { name: "OpenAI: Text Embedding Ada 002", context: 8_192, tokenizer: "GPT" },
}

/** OpenAI's moderation is free of charge, which the lists omit. */
export const moderationModels = [
  {
    id: "openai/omni-moderation-latest",
    name: "OpenAI: Omni Moderation",
    description: "Classifies texts and images by categories of harm.",
    created: Date.UTC(2024, 8, 26) / 1_000,
    knowledge_cutoff: null,
    context_length: 32_768,
    input_modalities: ["text", "image"],
    output_modalities: ["decisions"],
    tokenizer: "GPT",
    endpoints: [
      {
        provider: "openai",
        upstream_id: "omni-moderation-latest",
        pricing: { prompt: "0", completion: "0" },
        collects_data: false,
        supported_parameters: [],
      },
    ],
  },
]

type RealtimeFacts = { name: string; context: number; output: number; tokenizer: string; pricing: Pricing }

/** Offered only by their author, whose prices these are: the lists have no prices of audio tokens. */
export const realtimeModels: Readonly<Record<string, RealtimeFacts>> = {
  "openai/gpt-realtime": {
    name: "OpenAI: GPT Realtime",
    context: 32_000,
    output: 4_096,
    tokenizer: "GPT",
    pricing: {
      prompt: "0.000004",
      completion: "0.000016",
      input_cache_read: "0.0000004",
      audio: "0.000032",
      input_audio_cache: "0.0000004",
      audio_output: "0.000064",
    },
  },
  "openai/gpt-realtime-mini": {
    name: "OpenAI: GPT Realtime Mini",
    context: 32_000,
    output: 4_096,
    tokenizer: "GPT",
    pricing: {
      prompt: "0.0000006",
      completion: "0.0000024",
      input_cache_read: "0.00000006",
      audio: "0.00001",
      input_audio_cache: "0.0000003",
      audio_output: "0.00002",
    },
  },
}

/** Not seeded for OpenRouter: billed by something that neither price list has (searches, audio), or not for chat. */
export const unseeded: ReadonlySet<string> = new Set([
  "mistralai/voxtral-small-24b-2507",
  "openai/gpt-3.5-turbo-instruct",
  "perplexity/sonar-deep-research",
  "perplexity/sonar-pro-search",
])

const TOKENIZERS: readonly (readonly [RegExp, string])[] = [
  [/^openai\//, "GPT"],
  [/^anthropic\//, "Claude"],
  [/^google\/gemini/, "Gemini"],
  [/^google\/gemma/, "Gemma"],
  [/^x-ai\//, "Grok"],
  [/^cohere\//, "Cohere"],
  [/^amazon\/nova/, "Nova"],
  [/^qwen\/qwen3/, "Qwen3"],
  [/^qwen\//, "Qwen"],
  [/^deepseek\/(?!.*(llama|qwen))/, "DeepSeek"],
  [/^mistralai\//, "Mistral"],
  [/llama-4/, "Llama4"],
  [/llama-3|\/l3/, "Llama3"],
]

export function toTokenizer(id: string): string {
  return TOKENIZERS.find(([pattern]) => pattern.test(id))?.[1] ?? "Other"
}

/**
 * USD per search of the provider's web search tool, in no list: 10 USD a thousand, and 25 for the earlier tool of OpenAI
 * with models that do not reason.
 */
export function webSearchPrice(provider: string, id: string): string | undefined {
  if (provider === "anthropic") return "0.01"
  if (provider !== "openai") return undefined
  return /^openai\/gpt-[34]/.test(id) ? "0.025" : "0.01"
}
