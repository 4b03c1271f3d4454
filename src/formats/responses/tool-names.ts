import { isObject, type Json, objectsOf } from "../../support/json.ts"

/**
 * Tools of the Responses wire that the chat wire knows as functions alone: those of a namespace, under a name that has
 * it in front, and custom ones, whose input is a text and here the one argument of a function.
 */

/** What a function of the chat wire is on this one. */
export type NamedTool = { kind: "function" | "custom"; name: string; namespace: string | undefined }

const MAX_NAME_LENGTH = 64

export function chatNameOf(name: string, namespace?: string | null): string {
  return namespace == null || namespace === "" ? name : `${namespace}__${name}`.slice(0, MAX_NAME_LENGTH)
}

/** By the names that the chat wire has for them. */
export function toolNames(tools: readonly Json[] | null | undefined): ReadonlyMap<string, NamedTool> {
  const named = (tools ?? []).flatMap((tool): NamedTool[] => {
    if (tool["type"] === "custom") return [toNamed(tool, undefined)]
    if (tool["type"] !== "namespace") return []
    const members = objectsOf(tool["tools"])
    return members.map((member) => toNamed(member, String(tool["name"])))
  })
  return new Map(named.map((tool) => [chatNameOf(tool.name, tool.namespace), tool]))
}

function toNamed({ type, name }: Json, namespace: string | undefined): NamedTool {
  return { kind: type === "custom" ? "custom" : "function", name: String(name), namespace }
}

/** The text that a custom tool was called with; what is not wrapped as it should be is taken as it stands. */
export function inputIn(args: string): string {
  try {
    const parsed: unknown = JSON.parse(args)
    if (isObject(parsed) && typeof parsed["input"] === "string") return parsed["input"]
  } catch {
    // A model that writes the text itself means the same.
  }
  return args
}

export function toArguments(input: string): string {
  return JSON.stringify({ input })
}

/** A custom tool as the function that stands for it. A grammar can only be asked for in words. */
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
