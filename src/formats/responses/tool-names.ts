import { isObject, type Json, objectsOf } from "../../support/text/json.ts"
import { toChatName } from "../tools/tool-aliases.ts"

/**
 * Responses tools that become plain functions in the chat format: tools of a namespace, named with the namespace as a
 * prefix, and custom tools, whose text input becomes the only argument of the function.
 */

/** The Responses tool of a chat function. */
export type NamedTool = { kind: "function" | "custom"; name: string; namespace: string | undefined }

export function chatNameOf(name: string, namespace?: string | null): string {
  return namespace == null || namespace === "" ? name : toChatName(`${namespace}__${name}`)
}

/** Responses tools by the name of their chat function. */
export function toolNames(tools: readonly Json[] | null | undefined): ReadonlyMap<string, NamedTool> {
  const entries = (tools ?? []).flatMap((tool): NamedTool[] => {
    if (tool["type"] === "custom") return [toNamed(tool, undefined)]
    if (tool["type"] !== "namespace") return []
    const members = objectsOf(tool["tools"])
    return members.map((member) => toNamed(member, String(tool["name"])))
  })
  return new Map(entries.map((tool) => [chatNameOf(tool.name, tool.namespace), tool]))
}

function toNamed({ type, name }: Json, namespace: string | undefined): NamedTool {
  return { kind: type === "custom" ? "custom" : "function", name: String(name), namespace }
}

/** The input text of a custom tool call. Arguments that are not wrapped as expected are taken unchanged. */
export function inputIn(args: string): string {
  try {
    const parsed: unknown = JSON.parse(args)
    if (isObject(parsed) && typeof parsed["input"] === "string") return parsed["input"]
  } catch {
    // Some models send the plain text instead of JSON.
  }
  return args
}

export function toArguments(input: string): string {
  return JSON.stringify({ input })
}

/** Converts a custom tool to a function. A grammar is requested in the description. */
export function toFunction({ name, description, format }: Json, namespace?: string): Json {
  const grammar = isObject(format) && typeof format["definition"] === "string" ? format["definition"] : undefined
  const rule = grammar === undefined ? [] : [`The input must match this grammar:\n${grammar}`]
  const text = [...(typeof description === "string" ? [description] : []), ...rule].join("\n\n")
  return {
    type: "function",
    function: {
      name: chatNameOf(String(name), namespace),
      ...(text !== "" && { description: text }),
      parameters: {
        type: "object",
        properties: { input: { type: "string", description: "The whole input, as plain text." } },
        required: ["input"],
        additionalProperties: false,
      },
    },
  }
}
