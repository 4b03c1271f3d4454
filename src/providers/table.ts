import { ACCESS_KEY, BEDROCK_REGIONS, TOKEN_URL, VERTEX_LOCATIONS, VERTEX_PROJECTS } from "./cloud/cloud.ts"
import { type BuiltInProvider, row } from "./built-in.ts"
import { BATCH_PRICE_PERCENT } from "./names.ts"
import type { Quirks } from "./provider.ts"

/** Accept only `max_tokens`; some ignore the newer name. */
const OLD_LIMIT: Quirks = { maxTokensField: "max_tokens" }
/** Reject unknown fields, including `reasoning`. */
const STRICT_NEW: Quirks = { maxTokensField: "max_completion_tokens", isStrict: true }
const STRICT_OLD: Quirks = { maxTokensField: "max_tokens", isStrict: true }
/** Also reject `stream_options`; the last chunk has usage anyway. */
const STRICT_NO_STREAM_OPTIONS: Quirks = { ...STRICT_OLD, noStreamOptions: true }
const OPENAI: Quirks = { ...STRICT_NEW, takesDeveloper: true, samplesWithoutReasoning: true, needsResponses: true }
const GOOGLE: Quirks = {
  ...STRICT_OLD,
  signsCalls: true,
  rejects: ["frequency_penalty", "logit_bias", "presence_penalty", "seed", "user"],
}
const MISTRAL: Quirks = {
  ...STRICT_NO_STREAM_OPTIONS,
  takesToolMedia: true,
  seedField: "random_seed",
  rejects: ["logit_bias", "logprobs", "top_logprobs", "user", "verbosity"],
}
/** Require the reasoning of earlier turns while they think. */
const THINKING: Quirks = { ...OLD_LIMIT, requiresReasoning: true, hasThinkingSwitch: true }

export const builtInProviders: readonly BuiltInProvider[] = [
  row("ai21", "https://api.ai21.com/studio/v1", { headquarters: "IL", quirks: OLD_LIMIT }),
  row("alibaba", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", {
    aliases: ["DASHSCOPE_API_KEY", "QWEN_API_KEY"],
    headquarters: "CN",
    quirks: OLD_LIMIT,
  }),
  row("amazon-bedrock", null, {
    cloud: "bedrock",
    format: "converse",
    addresses: [[BEDROCK_REGIONS, "https://bedrock-runtime.*.amazonaws.com"]],
    aliases: ["AWS_BEARER_TOKEN_BEDROCK", "BEDROCK_API_KEY"],
    headquarters: "US",
    quirks: STRICT_OLD,
    privacy: "https://aws.amazon.com/privacy/",
    terms: "https://aws.amazon.com/service-terms/",
    status: "https://health.aws.amazon.com/health/status",
  }),
  row("anthropic", "https://api.anthropic.com/v1", {
    headquarters: "US",
    format: "anthropic",
    batches: { pricePercent: BATCH_PRICE_PERCENT.anthropic },
    privacy: "https://www.anthropic.com/legal/privacy",
    terms: "https://www.anthropic.com/legal/commercial-terms",
    status: "https://status.anthropic.com/",
  }),
  // Base URL of a resource: https://NAME.openai.azure.com/openai/v1
  row("azure", null, {
    addresses: [
      [["AZURE_OPENAI_ENDPOINT", "AZURE_ENDPOINT"], "*/openai/v1"],
      [["AZURE_RESOURCE_NAME"], "https://*.openai.azure.com/openai/v1"],
    ],
    aliases: ["AZURE_OPENAI_API_KEY"],
    headquarters: "US",
    quirks: OPENAI,
    responses: true,
    keyHeader: "api-key",
    privacy: "https://www.microsoft.com/en-us/privacy/privacystatement",
    terms: "https://www.microsoft.com/en-us/legal/terms-of-use",
    status: "https://status.azure.com/",
  }),
  row("baseten", "https://inference.baseten.co/v1", { headquarters: "US", quirks: OLD_LIMIT }),
  row("cerebras", "https://api.cerebras.ai/v1", {
    completions: "text",
    headquarters: "US",
    quirks: { ...STRICT_NEW, reasoningField: "reasoning" },
    status: "https://status.cerebras.ai/",
  }),
  row("chutes", "https://llm.chutes.ai/v1", { quirks: OLD_LIMIT }),
  // Workers AI. Base URL of an account: https://api.cloudflare.com/client/v4/accounts/ACCOUNT/ai/v1
  row("cloudflare", null, {
    addresses: [[["CLOUDFLARE_ACCOUNT_ID"], "https://api.cloudflare.com/client/v4/accounts/*/ai/v1"]],
    aliases: ["WORKERS_AI_API_KEY"],
    headquarters: "US",
    quirks: OLD_LIMIT,
    privacy: "https://www.cloudflare.com/privacypolicy/",
    terms: "https://www.cloudflare.com/website-terms/",
    status: "https://www.cloudflarestatus.com/",
  }),
  row("cohere", "https://api.cohere.ai/compatibility/v1", {
    aliases: ["CO_API_KEY"],
    headquarters: "CA",
    // The compatible API has no rerank.
    quirks: { ...STRICT_NO_STREAM_OPTIONS, rerank: { path: "/../../v2/rerank", takesTextOnly: true } },
    privacy: "https://cohere.com/privacy",
    terms: "https://cohere.com/terms-of-use",
    status: "https://status.cohere.com/",
  }),
  row("deepinfra", "https://api.deepinfra.com/v1/openai", {
    completions: "text",
    headquarters: "US",
    quirks: OLD_LIMIT,
    privacy: "https://deepinfra.com/privacy",
    terms: "https://deepinfra.com/terms",
    status: "https://status.deepinfra.com/",
  }),
  row("deepseek", "https://api.deepseek.com/v1", {
    headquarters: "CN",
    quirks: THINKING,
    privacy: "https://cdn.deepseek.com/policies/en-US/deepseek-privacy-policy.html",
    terms: "https://cdn.deepseek.com/policies/en-US/deepseek-terms-of-use.html",
    status: "https://status.deepseek.com/",
  }),
  row("featherless", "https://api.featherless.ai/v1", { completions: "text", quirks: OLD_LIMIT }),
  row("fireworks", "https://api.fireworks.ai/inference/v1", {
    completions: "text",
    aliases: ["FIREWORKS_AI_API_KEY"],
    headquarters: "US",
    quirks: { ...STRICT_OLD, reasoningField: "reasoning_content" },
    privacy: "https://fireworks.ai/privacy-policy",
    terms: "https://fireworks.ai/terms-of-service",
    status: "https://status.fireworks.ai/",
  }),
  row("friendli", "https://api.friendli.ai/serverless/v1", {
    completions: "text",
    aliases: ["FRIENDLI_TOKEN"],
    quirks: OLD_LIMIT,
  }),
  row("google-ai-studio", "https://generativelanguage.googleapis.com/v1beta/openai", {
    aliases: ["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"],
    headquarters: "US",
    quirks: GOOGLE,
    privacy: "https://policies.google.com/privacy",
    terms: "https://ai.google.dev/gemini-api/terms",
  }),
  row("google-vertex", "https://aiplatform.googleapis.com", {
    cloud: "vertex",
    aliases: ["GOOGLE_APPLICATION_CREDENTIALS_JSON", "GOOGLE_SERVICE_ACCOUNT_JSON", "VERTEX_API_KEY"],
    settings: [...VERTEX_PROJECTS, ...VERTEX_LOCATIONS, TOKEN_URL],
    headquarters: "US",
    quirks: GOOGLE,
    privacy: "https://cloud.google.com/terms/cloud-privacy-notice",
    terms: "https://cloud.google.com/terms",
    status: "https://status.cloud.google.com/",
  }),
  row("groq", "https://api.groq.com/openai/v1", {
    headquarters: "US",
    quirks: STRICT_NEW,
    privacy: "https://groq.com/privacy-policy/",
    terms: "https://groq.com/terms-of-use/",
    status: "https://groqstatus.com/",
  }),
  row("inception", "https://api.inceptionlabs.ai/v1", { headquarters: "US", quirks: OLD_LIMIT }),
  row("llama-cpp", null, {
    completions: "text",
    keyless: true,
    quirks: OLD_LIMIT,
  }),
  row("lm-studio", null, {
    completions: "text",
    keyless: true,
    quirks: OLD_LIMIT,
  }),
  row("minimax", "https://api.minimax.io/v1", { headquarters: "CN", quirks: OLD_LIMIT }),
  row("mistral", "https://api.mistral.ai/v1", {
    completions: "fim",
    headquarters: "FR",
    quirks: MISTRAL,
    privacy: "https://mistral.ai/terms/#privacy-policy",
    terms: "https://mistral.ai/terms/#terms-of-service",
    status: "https://status.mistral.ai/",
  }),
  row("moonshotai", "https://api.moonshot.ai/v1", {
    aliases: ["MOONSHOT_API_KEY", "KIMI_API_KEY"],
    headquarters: "CN",
    quirks: THINKING,
  }),
  row("morph", "https://api.morphllm.com/v1", { headquarters: "US", quirks: OLD_LIMIT }),
  row("nebius", "https://api.tokenfactory.nebius.com/v1", {
    headquarters: "NL",
    completions: "text",
    quirks: OLD_LIMIT,
  }),
  row("novita", "https://api.novita.ai/openai/v1", {
    completions: "text",
    headquarters: "US",
    quirks: OLD_LIMIT,
    privacy: "https://novita.ai/legal/privacy-policy",
    terms: "https://novita.ai/legal/terms-of-service",
  }),
  row("nvidia", "https://integrate.api.nvidia.com/v1", {
    aliases: ["NVIDIA_NIM_API_KEY", "NGC_API_KEY"],
    headquarters: "US",
    quirks: OLD_LIMIT,
  }),
  row("ollama", null, {
    completions: "text",
    keyless: true,
    quirks: OLD_LIMIT,
  }),
  row("openai", "https://api.openai.com/v1", {
    headquarters: "US",
    quirks: OPENAI,
    responses: true,
    batches: { pricePercent: BATCH_PRICE_PERCENT.openai },
    privacy: "https://openai.com/policies/privacy-policy/",
    terms: "https://openai.com/policies/services-agreement/",
    status: "https://status.openai.com/",
  }),
  row("openrouter", "https://openrouter.ai/api/v1", {
    completions: "text",
    headquarters: "US",
    quirks: { takesDeveloper: true, takesToolMedia: true },
    responses: true,
    privacy: "https://openrouter.ai/privacy",
    terms: "https://openrouter.ai/terms",
    status: "https://status.openrouter.ai/",
  }),
  row("parasail", "https://api.parasail.io/v1", { quirks: OLD_LIMIT }),
  row("perplexity", "https://api.perplexity.ai", {
    aliases: ["PPLX_API_KEY"],
    headquarters: "US",
    quirks: { ...OLD_LIMIT, noStreamOptions: true },
    status: "https://status.perplexity.com/",
  }),
  row("sambanova", "https://api.sambanova.ai/v1", {
    aliases: ["SAMBA_NOVA_API_KEY"],
    headquarters: "US",
    quirks: OLD_LIMIT,
  }),
  row("siliconflow", "https://api.siliconflow.com/v1", { quirks: OLD_LIMIT }),
  row("together", "https://api.together.xyz/v1", {
    completions: "text",
    aliases: ["TOGETHERAI_API_KEY", "TOGETHER_AI_API_KEY"],
    headquarters: "US",
    quirks: OLD_LIMIT,
    privacy: "https://www.together.ai/privacy",
    terms: "https://www.together.ai/terms-of-service",
    status: "https://status.together.ai/",
  }),
  row("upstage", "https://api.upstage.ai/v1", { headquarters: "KR", quirks: OLD_LIMIT }),
  row("venice", "https://api.venice.ai/api/v1", { headquarters: "US", quirks: OLD_LIMIT }),
  row("vllm", null, {
    completions: "text",
    keyless: true,
    quirks: OLD_LIMIT,
  }),
  row("wandb", "https://api.inference.wandb.ai/v1", {
    aliases: ["WB_API_KEY"],
    headquarters: "US",
    quirks: OLD_LIMIT,
  }),
  row("xai", "https://api.x.ai/v1", {
    aliases: ["GROK_API_KEY"],
    headquarters: "US",
    quirks: { ...STRICT_NEW, takesDeveloper: true },
    responses: true,
    privacy: "https://x.ai/legal/privacy-policy",
    terms: "https://x.ai/legal/terms-of-service-enterprise",
    status: "https://status.x.ai/",
  }),
  row("z-ai", "https://api.z.ai/api/paas/v4", {
    aliases: ["ZAI_API_KEY", "ZHIPUAI_API_KEY", "GLM_API_KEY"],
    headquarters: "CN",
    quirks: { ...OLD_LIMIT, hasThinkingSwitch: true },
  }),
]

/** Names of all variables for keys and URLs of providers. */
export const PROVIDER_VARIABLES: readonly string[] = [
  ...builtInProviders.flatMap(({ aliases, addresses, settings }) => [
    ...aliases,
    ...addresses.flatMap(([variables]) => variables),
    ...settings,
  ]),
  ...ACCESS_KEY,
]

const bySlug = new Map(builtInProviders.map((provider) => [provider.slug, provider]))

export function findBuiltInProvider(slug: string): BuiltInProvider | undefined {
  return bySlug.get(slug)
}
