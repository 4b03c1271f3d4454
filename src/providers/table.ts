import type { Quirks } from "./provider.ts"

/** A provider the gateway knows by heart: setting its secret is all it takes to use it. */
export type BuiltInProvider = {
  slug: string
  name: string
  baseUrl: string
  /** The variable that holds its key. `X_API_KEY` also makes `X_BASE_URL`, which replaces `baseUrl`. */
  secret: string
  quirks: Quirks
  /** ISO 3166-1 alpha-2, null where it is not certain. */
  headquarters: string | null
  privacyPolicyUrl: string | null
  termsOfServiceUrl: string | null
  statusPageUrl: string | null
}

type Links = { privacy?: string; terms?: string; status?: string }

function row(slug: string, name: string, baseUrl: string, at: string | null, quirks: Quirks = {}, links: Links = {}) {
  return {
    slug,
    name,
    baseUrl,
    secret: `${slug.toUpperCase().replaceAll("-", "_")}_API_KEY`,
    quirks,
    headquarters: at,
    privacyPolicyUrl: links.privacy ?? null,
    termsOfServiceUrl: links.terms ?? null,
    statusPageUrl: links.status ?? null,
  } satisfies BuiltInProvider
}

/** Take only `max_tokens`. */
const OLD_LIMIT: Quirks = { maxTokensField: "max_tokens" }
/** Refuse unknown fields, `reasoning` among them. */
const STRICT_NEW: Quirks = { maxTokensField: "max_completion_tokens", reasoningEffortField: true }
const STRICT_OLD: Quirks = { maxTokensField: "max_tokens", reasoningEffortField: true }
/** Refuse `stream_options` as well; the last chunk has usage all the same. */
const STRICT_NO_STREAM_OPTIONS: Quirks = { ...STRICT_OLD, noStreamOptions: true }

export const builtInProviders: readonly BuiltInProvider[] = [
  row("ai21", "AI21", "https://api.ai21.com/studio/v1", "IL", OLD_LIMIT),
  row("alibaba", "Alibaba", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "CN", OLD_LIMIT),
  row("baseten", "BaseTen", "https://inference.baseten.co/v1", "US", OLD_LIMIT),
  row("cerebras", "Cerebras", "https://api.cerebras.ai/v1", "US", STRICT_NEW, {
    status: "https://status.cerebras.ai/",
  }),
  row("chutes", "Chutes", "https://llm.chutes.ai/v1", null, OLD_LIMIT),
  row("cohere", "Cohere", "https://api.cohere.ai/compatibility/v1", "CA", STRICT_NO_STREAM_OPTIONS, {
    privacy: "https://cohere.com/privacy",
    terms: "https://cohere.com/terms-of-use",
    status: "https://status.cohere.com/",
  }),
  row("deepinfra", "DeepInfra", "https://api.deepinfra.com/v1/openai", "US", OLD_LIMIT, {
    privacy: "https://deepinfra.com/privacy",
    terms: "https://deepinfra.com/terms",
    status: "https://status.deepinfra.com/",
  }),
  row("deepseek", "DeepSeek", "https://api.deepseek.com/v1", "CN", OLD_LIMIT, {
    privacy: "https://cdn.deepseek.com/policies/en-US/deepseek-privacy-policy.html",
    terms: "https://cdn.deepseek.com/policies/en-US/deepseek-terms-of-use.html",
    status: "https://status.deepseek.com/",
  }),
  row("featherless", "Featherless", "https://api.featherless.ai/v1", null, OLD_LIMIT),
  row("fireworks", "Fireworks", "https://api.fireworks.ai/inference/v1", "US", STRICT_OLD, {
    privacy: "https://fireworks.ai/privacy-policy",
    terms: "https://fireworks.ai/terms-of-service",
    status: "https://status.fireworks.ai/",
  }),
  row("friendli", "Friendli", "https://api.friendli.ai/serverless/v1", null, OLD_LIMIT),
  row(
    "google-ai-studio",
    "Google AI Studio",
    "https://generativelanguage.googleapis.com/v1beta/openai",
    "US",
    STRICT_OLD,
    {
      privacy: "https://policies.google.com/privacy",
      terms: "https://ai.google.dev/gemini-api/terms",
    },
  ),
  row("groq", "Groq", "https://api.groq.com/openai/v1", "US", STRICT_NEW, {
    privacy: "https://groq.com/privacy-policy/",
    terms: "https://groq.com/terms-of-use/",
    status: "https://groqstatus.com/",
  }),
  row("inception", "Inception", "https://api.inceptionlabs.ai/v1", "US", OLD_LIMIT),
  row("minimax", "Minimax", "https://api.minimax.io/v1", "CN", OLD_LIMIT),
  row("mistral", "Mistral", "https://api.mistral.ai/v1", "FR", STRICT_NO_STREAM_OPTIONS, {
    privacy: "https://mistral.ai/terms/#privacy-policy",
    terms: "https://mistral.ai/terms/#terms-of-service",
    status: "https://status.mistral.ai/",
  }),
  row("moonshotai", "Moonshot AI", "https://api.moonshot.ai/v1", "CN", OLD_LIMIT),
  row("morph", "Morph", "https://api.morphllm.com/v1", "US", OLD_LIMIT),
  row("nebius", "Nebius", "https://api.tokenfactory.nebius.com/v1", "NL", OLD_LIMIT),
  row("novita", "Novita", "https://api.novita.ai/openai/v1", "US", OLD_LIMIT, {
    privacy: "https://novita.ai/legal/privacy-policy",
    terms: "https://novita.ai/legal/terms-of-service",
  }),
  row("nvidia", "Nvidia", "https://integrate.api.nvidia.com/v1", "US", OLD_LIMIT),
  row("openai", "OpenAI", "https://api.openai.com/v1", "US", STRICT_NEW, {
    privacy: "https://openai.com/policies/privacy-policy/",
    terms: "https://openai.com/policies/services-agreement/",
    status: "https://status.openai.com/",
  }),
  row(
    "openrouter",
    "OpenRouter",
    "https://openrouter.ai/api/v1",
    "US",
    {},
    {
      privacy: "https://openrouter.ai/privacy",
      terms: "https://openrouter.ai/terms",
      status: "https://status.openrouter.ai/",
    },
  ),
  row("parasail", "Parasail", "https://api.parasail.io/v1", null, OLD_LIMIT),
  row(
    "perplexity",
    "Perplexity",
    "https://api.perplexity.ai",
    "US",
    { ...OLD_LIMIT, noStreamOptions: true },
    {
      status: "https://status.perplexity.com/",
    },
  ),
  row("sambanova", "SambaNova", "https://api.sambanova.ai/v1", "US", OLD_LIMIT),
  row("siliconflow", "SiliconFlow", "https://api.siliconflow.com/v1", null, OLD_LIMIT),
  row("together", "Together", "https://api.together.xyz/v1", "US", OLD_LIMIT, {
    privacy: "https://www.together.ai/privacy",
    terms: "https://www.together.ai/terms-of-service",
    status: "https://status.together.ai/",
  }),
  row("upstage", "Upstage", "https://api.upstage.ai/v1", "KR", OLD_LIMIT),
  row("venice", "Venice", "https://api.venice.ai/api/v1", "US", OLD_LIMIT),
  row("wandb", "WandB", "https://api.inference.wandb.ai/v1", "US", OLD_LIMIT),
  row("xai", "xAI", "https://api.x.ai/v1", "US", STRICT_NEW, {
    privacy: "https://x.ai/legal/privacy-policy",
    terms: "https://x.ai/legal/terms-of-service-enterprise",
    status: "https://status.x.ai/",
  }),
  row("z-ai", "Z.AI", "https://api.z.ai/api/paas/v4", "CN", OLD_LIMIT),
]

const bySlug = new Map(builtInProviders.map((provider) => [provider.slug, provider]))

export function findBuiltInProvider(slug: string): BuiltInProvider | undefined {
  return bySlug.get(slug)
}
