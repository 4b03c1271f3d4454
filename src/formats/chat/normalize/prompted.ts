import { isArray, isObject, type Json, objectsOf, textIn } from "../../../support/text/json.ts"

/** Facts about a response in the request that the provider received. */

/** Whether a tool has a longer name than this. */
export function mayGrow(name: string, upstreamBody: Json | undefined): boolean {
  return functionsIn(upstreamBody).some(
    (fn) => textIn(fn, "name").length > name.length && textIn(fn, "name").startsWith(name),
  )
}

/** Whether a tool has arguments, so that an empty object may not be all of them. */
export function takesArguments(name: string, upstreamBody: Json | undefined): boolean {
  const { parameters } = functionsIn(upstreamBody).find((fn) => fn["name"] === name) ?? {}
  const { properties } = isObject(parameters) ? parameters : {}
  return isObject(properties) && Object.keys(properties).length > 0
}

function functionsIn(upstreamBody: Json | undefined): Json[] {
  return objectsOf(upstreamBody?.["tools"]).flatMap(({ function: fn }) => (isObject(fn) ? [fn] : []))
}

/** Whether the client uses the deprecated form of tools. */
export function usesFunctions(upstreamBody: Json | undefined): boolean {
  return isArray(upstreamBody?.["functions"])
}

/** Whether the prompt has a tag, so that the client reads it itself. */
export function isPrompted(tag: string, upstreamBody: Json | undefined): boolean {
  const prompts = objectsOf(upstreamBody?.["messages"]).filter(({ role }) => role !== "assistant" && role !== "tool")
  return prompts.some(({ content }) => JSON.stringify(content ?? "").includes(tag))
}
