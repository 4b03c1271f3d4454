import * as z from "zod"
import { GatewayError } from "../errors/errors.ts"
import { parseAt, rejectAt } from "../server-tools/parse-at.ts"
import { requireSearch, type WebSearchConfig, webSearchConfig } from "../server-tools/web-search/config.ts"
import type { SearchSettings } from "../server-tools/web-search/configured.ts"
import { WebFetchConfig } from "../server-tools/web-fetch/web-fetch.ts"
import { COST_TIERS } from "./auto-router.ts"
import { MODERATION_VARIABLES, type ModerationSettings } from "./moderation.ts"
import { Patterns } from "../support/text/wildcard.ts"
import { withoutNulls } from "../support/text/json.ts"

export type PluginSettings = { search: SearchSettings | undefined; moderation: ModerationSettings | undefined }

const flag = z.boolean({ error: "must be true or false" }).nullish()
const object = { error: "must be an object" }

const AutoRouter = z.object(
  {
    allowed_models: Patterns.nullish(),
    excluded_models: Patterns.nullish(),
    cost_tier: z.enum(COST_TIERS, { error: `accepts ${COST_TIERS.join(", ")}` }).nullish(),
    cost_quality_tradeoff: z
      .int({ error: "must be an integer from 0 to 10" })
      .min(0, "must be an integer from 0 to 10")
      .max(10, "must be an integer from 0 to 10")
      .nullish(),
    pin_model: flag,
  },
  object,
)
export type AutoRouterOptions = z.infer<typeof AutoRouter>

const ContextCompression = z.object(
  { engine: z.literal("middle-out", { error: 'accepts "middle-out"' }).default("middle-out") },
  object,
)

const PDF_RULE = "accepts cloudflare-ai and native"
/** Without an engine, the gateway chooses: native if the model reads files, otherwise the local one. */
const FileParser = z
  .object(
    {
      pdf: z
        .object(
          {
            engine: z
              .enum(["cloudflare-ai", "native", "pdf-text"], {
                error: ({ input }) =>
                  input === "mistral-ocr" ? `mistral-ocr is not available on this gateway; it ${PDF_RULE}` : PDF_RULE,
              })
              .nullish(),
          },
          object,
        )
        .nullish(),
    },
    object,
  )
  .transform(({ pdf }) => {
    const engine = pdf?.engine === "pdf-text" ? "cloudflare-ai" : pdf?.engine
    return { engine: engine ?? undefined }
  })
export type FileParserOptions = z.infer<typeof FileParser>

const SearchPrompt = z.object({
  search_prompt: z.string({ error: "must be a string" }).max(10_000, "must be at most 10000 characters").nullish(),
})

/** The plugins of a request with their options; undefined for unused ones. */
export type Plugins = {
  autoRouter: AutoRouterOptions | undefined
  contextCompression: { engine: "middle-out" } | undefined
  fileParser: FileParserOptions | undefined
  moderation: ModerationSettings | undefined
  responseHealing: true | undefined
  web: { config: WebSearchConfig; searchPrompt: string | undefined; settings: SearchSettings } | undefined
  webFetch: WebFetchConfig | undefined
}

const AVAILABLE = [
  "auto-router",
  "context-compression",
  "file-parser",
  "moderation",
  "response-healing",
  "web",
  "web-fetch",
]

type Plugin = { id: string; enabled?: boolean | null | undefined }

export function readPlugins(plugins: readonly Plugin[] | null | undefined, settings: PluginSettings): Plugins {
  const read: Plugins = {
    autoRouter: undefined,
    contextCompression: undefined,
    fileParser: undefined,
    moderation: undefined,
    responseHealing: undefined,
    web: undefined,
    webFetch: undefined,
  }
  const seen = new Set<string>()
  for (const [index, plugin] of (plugins ?? []).entries()) {
    if (seen.has(plugin.id)) throw rejectAt(`plugins[${index}].id`, `${plugin.id} is in the list twice`)
    seen.add(plugin.id)
    if (plugin.enabled !== false) readOne(plugin, index, read, settings)
  }
  return read
}

function readOne(plugin: Plugin, index: number, read: Plugins, settings: PluginSettings): void {
  const options = withoutNulls(plugin)
  const parse = <T extends z.ZodType>(schema: T) => parseAt(schema, options, ["plugins", index])
  switch (plugin.id) {
    case "auto-router":
      read.autoRouter = parse(AutoRouter)
      return
    case "context-compression":
      read.contextCompression = parse(ContextCompression)
      return
    case "file-parser":
      read.fileParser = parse(FileParser)
      return
    case "moderation":
      read.moderation = requireModeration(settings, index)
      return
    case "response-healing":
      read.responseHealing = true
      return
    case "web": {
      const search = requireSearch(settings.search, `plugins[${index}].id`, "web")
      const searchPrompt = parse(SearchPrompt).search_prompt ?? undefined
      read.web = { config: parse(webSearchConfig(search)), searchPrompt, settings: search }
      return
    }
    case "web-fetch":
      read.webFetch = parse(WebFetchConfig)
      return
    default:
      throw unavailableError(plugin.id, index)
  }
}

function requireModeration(settings: PluginSettings, index: number): ModerationSettings {
  if (settings.moderation) return settings.moderation
  const message = `moderation needs a moderation model, and none is configured here: set ${MODERATION_VARIABLES}`
  throw rejectAt(`plugins[${index}].id`, message)
}

function unavailableError(id: string, index: number): GatewayError {
  const has = `${AVAILABLE.slice(0, -1).join(", ")} and ${AVAILABLE.at(-1)}`
  return rejectAt(`plugins[${index}].id`, `${id.slice(0, 100)} is not available on this gateway; it has ${has}`)
}
