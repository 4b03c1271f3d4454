import * as z from "zod"
import { GatewayError } from "../../errors/errors.ts"
import {
  chatContent,
  ChatPreset,
  messagesContent,
  MessagesPreset,
  type PresetContent,
  responsesContent,
  ResponsesPreset,
} from "../../presets/config.ts"
import { PresetChange } from "../../presets/schemas.ts"
import { isObject, type Json } from "../../support/text/json.ts"
import type { Api } from "../api.ts"
import { Failure } from "../failure.ts"
import { addressOf, type Change, normalizeFields, type Resource } from "./resource.ts"

const ONE_FORM = "must have one of chat, responses or messages: a request in that format, without its messages"

/** A preset in a file: the fields of a request in one of the three formats, and the preset's own fields. */
export const Preset = z
  .strictObject({
    name: PresetChange.shape.name,
    description: PresetChange.shape.description,
    status: z.enum(["active", "disabled"], { error: "accepts active, disabled" }).optional(),
    chat: ChatPreset.strict().optional(),
    responses: ResponsesPreset.strict().optional(),
    messages: MessagesPreset.strict().optional(),
  })
  .refine(({ chat, responses, messages }) => [chat, responses, messages].filter(Boolean).length === 1, ONE_FORM)
export type Preset = z.infer<typeof Preset>

/** With `config` and `system_prompt` as the gateway derives them from the request. */
export function presetsOf(workspace: string, presets: Readonly<Record<string, Preset>>): Resource[] {
  return Object.entries(presets).map(([name, preset]) => {
    const { chat, responses, messages, ...others } = preset
    const identity = { kind: "preset" as const, workspace, name }
    const content = contentOf(preset, addressOf(identity))
    const fields = normalizeFields({ ...others, config: content.config, system_prompt: content.systemPrompt })
    const request = chat
      ? { path: "chat/completions", body: chat }
      : responses
        ? { path: "responses", body: responses }
        : { path: "messages", body: messages ?? {} }
    return { ...identity, fields, request }
  })
}

function contentOf({ chat, responses, messages }: Preset, address: string): PresetContent {
  try {
    if (chat) return chatContent(chat)
    return responses ? responsesContent(responses) : messagesContent(messages ?? {})
  } catch (error) {
    if (error instanceof GatewayError) throw new Failure(`${address}: ${error.message}`)
    throw error
  }
}

/** The declarable fields of a preset in the gateway. */
export function livePreset(preset: Json): Json {
  const version = isObject(preset["designated_version"]) ? preset["designated_version"] : {}
  const { name, description, status, id } = preset
  return { id, name, description, status, config: version["config"], system_prompt: version["system_prompt"] }
}

/** Creates a new version if the content differs. Removal archives it: presets are not deleted. */
export async function writePreset(api: Api, { action, name, fields, request }: Change, query: string): Promise<void> {
  const resource = `/presets/${encodeURIComponent(name)}`
  const patch = (body: Json) => api.as("manager", "PATCH", `${resource}${query}`, body)
  if (action === "remove") return void (await patch({ status: "archived" }))
  if (action === "create" && (await isArchived(api, `${resource}${query}`))) await patch({ status: "active" })
  const differs = fields.some(({ field }) => field === "config" || field === "system_prompt")
  if (request && (action === "create" || differs)) {
    await api.as("manager", "POST", `${resource}/${request.path}${query}`, request.body)
  }
  const others = fields.filter(({ field }) => field !== "config" && field !== "system_prompt")
  if (others.length > 0) await patch(Object.fromEntries(others.map(({ field, to }) => [field, to])))
}

async function isArchived(api: Api, resource: string): Promise<boolean> {
  const found = await api.as<{ data: Json }>("manager", "GET", resource).catch((error: unknown) => {
    if (error instanceof Failure) return undefined
    throw error
  })
  return found?.data["status"] === "archived"
}
