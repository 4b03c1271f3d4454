import { isObject } from "../../support/text/json.ts"

/** Fields with output text. */
export const OUTPUT_FIELDS = ["content", "refusal", "audio"]

/** The choice of a chunk, whether it is its last one, and whether it has output text. */
export function outputStateOf(choices: readonly unknown[]): { index: number; isLast: boolean; isOutput: boolean } {
  const [choice] = choices
  if (!isObject(choice)) return { index: 0, isLast: false, isOutput: false }
  const delta = isObject(choice["delta"]) ? choice["delta"] : {}
  const isOutput = OUTPUT_FIELDS.some((name) => delta[name] != null && delta[name] !== "")
  const index = typeof choice["index"] === "number" ? choice["index"] : 0
  return { index, isLast: typeof choice["finish_reason"] === "string", isOutput }
}
