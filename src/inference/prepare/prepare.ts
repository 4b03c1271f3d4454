import { isObject, type Json } from "../../support/text/json.ts"
import type { Caller } from "../../policy/call-policy.ts"
import { GatewayError } from "../../errors/errors.ts"
import { compress } from "../../plugins/context-compression.ts"
import { parseFiles } from "../../plugins/file-parser.ts"
import { moderate, toModerationInput } from "../../plugins/moderation.ts"
import { type Plugins, readPlugins } from "../../plugins/read-plugins.ts"
import { readServerTools, requestWebFetch, toolOfType } from "../../server-tools/read-tools.ts"
import { type McpServerChoice, readMcpChoices } from "../../server-tools/mcp.ts"
import type { RequestedTool } from "../../server-tools/tool.ts"
import { fetchPublic } from "../../server-tools/web-fetch/guarded-fetch.ts"
import type { ChargeToolRun } from "../agent/charge-tool-run.ts"
import { rejectDisabled } from "../input/defaults.ts"
import { estimatePromptTokens } from "../../support/tokens.ts"
import type { PreparationReport, PipelineStage } from "../../formats/pipeline-stage.ts"
import { findModel, splitRequestVariants } from "../../routing/names.ts"
import type { ChatRequest } from "../../formats/schemas.ts"
import type { Deps } from "../deps.ts"
import { choose } from "./auto.ts"
import { isAuto, namesOf } from "./needs.ts"
import { replayServerTools } from "./replay.ts"
import { requireUnexhaustedLimits } from "./limit-check.ts"
import { searchFor } from "./web.ts"

type Messages = ChatRequest["messages"]

/** A request after preparation, and the work on its response. */
export type Prepared = {
  chat: ChatRequest
  preparation: PreparationReport
  /** Run by the gateway when the model calls them. */
  tools: readonly RequestedTool[]
  /** Sources of text that was added to the prompt, returned with the response. */
  annotations: readonly Json[]
  heals: boolean
  /** Closes the connections of the tools. Called after the agent loop. */
  close?: () => void
}

/**
 * Applies variants, plugins and server tools. The order matters: the client's input is moderated before anything is
 * added to it, files are converted to text before the conversation is measured, and it is shortened last.
 */
type Preparing = { deps: Deps; chargeToolRun: ChargeToolRun; caller: Caller; region: string | null }

export async function prepare(sent: ChatRequest, preparing: Preparing): Promise<Prepared> {
  const opened: Pick<Prepared, "close"> = {}
  try {
    return await prepareAll(sent, preparing, opened)
  } catch (thrown) {
    opened.close?.()
    throw thrown
  }
}

async function prepareAll(
  sent: ChatRequest,
  { deps, chargeToolRun, caller, region }: Preparing,
  opened: Pick<Prepared, "close">,
): Promise<Prepared> {
  const { defaults, guardrails } = caller
  const requestedModel = namesOf(sent)[0] ?? ""
  const stages: PipelineStage[] = []
  const { chat: request, isOnline } = withoutVariants(sent, deps)
  const plugins = readPlugins(pluginsOf(request, isOnline), {
    search: deps.tools().settings.webSearch,
    moderation: deps.moderation(),
  })
  // The plugins are the same tools, so a disabled tool disables its plugin.
  rejectDisabled([plugins.web && "web_search", plugins.webFetch && "web_fetch"], defaults.disabledTools)
  const isChosen = namesOf(request).some((name) => isAuto(name, deps.catalogue))
  const chosen = isChosen
    ? choose(request, plugins.autoRouter ?? {}, deps, { filters: guardrails?.routeFilters() ?? [], region })
    : undefined
  await requireUnexhaustedLimits(chosen?.chat ?? request, plugins, caller, deps)
  if (plugins.moderation) stages.push(await judge(request.messages, plugins.moderation, deps))
  if (chosen) stages.push(chosen.stage)
  let chat = chosen?.chat ?? request

  const { tools, clientTools, close } = await toolsOf(chat, plugins, deps)
  if (close) opened.close = close
  const names = new Set(tools.map(({ definition }) => definition.name))
  let messages = replayServerTools(chat.messages, names)
  if (plugins.fileParser) messages = await readFiles(messages, plugins.fileParser, { chat, deps, stages })
  const found = plugins.web ? await searchFor(messages, plugins.web, deps, chargeToolRun) : undefined
  if (found) stages.push(found.stage)
  messages = found?.messages ?? messages
  if (plugins.contextCompression) messages = shorten(messages, chat, deps, stages)

  chat = { ...chat, messages, ...toolFields(chat, tools, clientTools) }
  return {
    chat: { ...chat, plugins: undefined },
    preparation: { requestedModel, stages, ...(chosen && { strategy: "auto" }) },
    tools,
    annotations: found?.annotations ?? [],
    heals: plugins.responseHealing === true,
    ...(close && { close }),
  }
}

/** `:online` enables the web plugin, `:thinking` enables reasoning; the rest is the model name. */
function withoutVariants(chat: ChatRequest, { catalogue }: Deps): { chat: ChatRequest; isOnline: boolean } {
  const split = namesOf(chat).map((name) => splitRequestVariants(name, catalogue))
  const variants = new Set(split.flatMap((one) => one.variants))
  const names = split.map(({ name }) => name)
  const model = chat.model === undefined ? undefined : names.shift()
  const requestsReasoning = variants.has("thinking") && chat.reasoning?.effort == null && chat.reasoning_effort == null
  return {
    chat: {
      ...chat,
      ...(model !== undefined && { model }),
      ...(chat.models && { models: names }),
      ...(requestsReasoning && { reasoning: { ...chat.reasoning, effort: "medium" as const } }),
    },
    isOnline: variants.has("online"),
  }
}

type Plugin = NonNullable<ChatRequest["plugins"]>[number]

/** `transforms: ["middle-out"]` is the older name of context compression. */
function pluginsOf(chat: ChatRequest, isOnline: boolean): Plugin[] {
  const { transforms }: Json = chat
  const plugins = chat.plugins ?? []
  const has = (id: string) => plugins.some((plugin) => plugin.id === id)
  const unknown = Array.isArray(transforms) ? transforms.find((one) => one !== "middle-out") : undefined
  if (unknown !== undefined) {
    throw new GatewayError(
      "invalid_request",
      'transforms: accepts "middle-out", or use the plugin context-compression.',
    )
  }
  const isOlder = Array.isArray(transforms) && transforms.length > 0
  return [
    ...plugins,
    ...(isOnline && !has("web") ? [{ id: "web" }] : []),
    ...(isOlder && !has("context-compression") ? [{ id: "context-compression" }] : []),
  ]
}

async function judge(
  messages: Messages,
  settings: NonNullable<Plugins["moderation"]>,
  deps: Deps,
): Promise<PipelineStage> {
  const { fetch, signal } = deps.tools()
  const { flagged, categories } = await moderate(toModerationInput(messages), settings, { fetch, signal })
  if (!flagged) return { type: "plugin", name: "moderation", summary: "nothing was flagged" }
  throw new GatewayError("forbidden", `The request was flagged by moderation: ${categories.join(", ")}.`, {
    metadata: { reason: "moderation", patterns: categories },
  })
}

async function toolsOf({ tools }: ChatRequest, plugins: Plugins, deps: Deps) {
  const { choices, others } = readMcpChoices(tools)
  const { serverTools, clientTools } = readServerTools(others.filter(reachesOut), deps.tools().settings)
  const takenNames = new Set(others.map(functionNameOf))
  for (const { definition } of serverTools) takenNames.add(definition.name)
  const added = plugins.webFetch ? [requestWebFetch(plugins.webFetch, takenNames)] : []
  const mcp = choices.length > 0 ? await openMcp(choices, takenNames, deps) : undefined
  return { tools: [...serverTools, ...added, ...(mcp?.tools ?? [])], clientTools, close: mcp?.close }
}

function openMcp(choices: readonly McpServerChoice[], takenNames: Set<string>, { openMcp: open }: Deps) {
  if (open) return open(choices, takenNames)
  throw new GatewayError(
    "invalid_request",
    "tools: MCP servers are available on chat completions, responses and messages.",
  )
}

/** A search limited to the vendor's index cannot run here, so it is not offered to the model. */
function reachesOut({ external_web_access: access }: Json): boolean {
  return access !== false
}

function functionNameOf({ function: fn }: Json): string {
  return isObject(fn) && typeof fn["name"] === "string" ? fn["name"] : ""
}

/** The model receives every tool as a function; a choice of a server tool becomes a choice of its function. */
function toolFields(
  { tool_choice: choice }: ChatRequest,
  tools: readonly RequestedTool[],
  clientTools: NonNullable<ChatRequest["tools"]>,
): Partial<ChatRequest> {
  const functions = tools.map(({ definition }) => ({ type: "function" as const, function: definition }))
  const all = [...clientTools, ...functions]
  const chosenTool = typeof choice === "object" && choice !== null ? toolOfType(tools, choice.type) : undefined
  return {
    tools: all.length > 0 ? all : undefined,
    ...(chosenTool && { tool_choice: { type: "function", function: { name: chosenTool.definition.name } } }),
  }
}

async function readFiles(
  messages: Messages,
  options: NonNullable<Plugins["fileParser"]>,
  { chat, deps, stages }: { chat: ChatRequest; deps: Deps; stages: PipelineStage[] },
): Promise<Messages> {
  const readsFiles = firstModel(chat, deps)?.inputModalities.includes("file") ?? false
  const engine = options.engine ?? (readsFiles ? "native" : "cloudflare-ai")
  const tools = deps.tools()
  const fetchFile = (url: string) => fetchPublic(url, { ...tools, settings: tools.settings.webFetch })
  const parsed = await parseFiles(messages, { engine }, { fetchFile })
  stages.push({ type: "plugin", name: "file-parser", summary: `files read by the engine ${engine}` })
  return parsed as Messages
}

/**
 * Room for the response if the request sets no limit: a share of the context, up to the length of most responses.
 */
const OUTPUT_SHARE = 0.25
const MAX_ASSUMED_OUTPUT = 4_096

function shorten(messages: Messages, chat: ChatRequest, deps: Deps, stages: PipelineStage[]): Messages {
  const model = firstModel(chat, deps)
  const context = model?.contextLength ?? 0
  if (context === 0) return messages
  const requestedMax = chat.max_completion_tokens ?? chat.max_tokens
  const forOutput = requestedMax ?? Math.min(MAX_ASSUMED_OUTPUT, Math.floor(context * OUTPUT_SHARE))
  const forTools = chat.tools ? estimatePromptTokens([{ content: JSON.stringify(chat.tools) }]) : 0
  const { messages: short, dropped, shortened } = compress(messages, Math.max(1, context - forOutput - forTools))
  const summary =
    dropped + shortened === 0
      ? "everything fits"
      : `${dropped} messages left out, ${shortened} shortened, from the middle`
  stages.push({ type: "context_compression", name: "middle-out", summary, data: { dropped, shortened } })
  return short as Messages
}

function firstModel(chat: ChatRequest, { catalogue }: Deps) {
  return namesOf(chat)
    .map((name) => findModel(name, catalogue).model)
    .find((model) => model !== undefined)
}
