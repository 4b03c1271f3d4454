import { toRecord } from "../chat-request.ts"

/** Terms by category. A category without terms is never flagged. */
const CATEGORIES: Readonly<Record<string, readonly string[]>> = {
  harassment: ["idiot", "moron"],
  "harassment/threatening": [],
  hate: ["subhuman"],
  "hate/threatening": [],
  illicit: ["counterfeit", "smuggle"],
  "illicit/violent": [],
  "self-harm": [],
  "self-harm/intent": [],
  "self-harm/instructions": [],
  sexual: [],
  "sexual/minors": [],
  violence: ["kill", "stab"],
  "violence/graphic": ["gore"],
}
const FLAGGED_SCORE = 0.99
const OTHER_SCORE = 0.01

type Decision = {
  flagged: boolean
  categories: Record<string, boolean>
  category_scores: Record<string, number>
  category_applied_input_types: Record<string, string[]>
}

/** A decision for each text, or one for all content parts; undefined for another input. */
export function decide(input: unknown): Decision[] | undefined {
  if (typeof input === "string") return [decideText(input)]
  if (!Array.isArray(input) || input.length === 0) return undefined
  if (input.every((one) => typeof one === "string")) return input.map(decideText)
  const texts = input.map((part) => toRecord(part)["text"]).filter((text) => typeof text === "string")
  return [decideText(texts.join(" "))]
}

function decideText(text: string): Decision {
  const tokens = new Set(text.toLowerCase().match(/\p{L}+/gu))
  const found = Object.entries(CATEGORIES).map(([name, list]) => [name, list.some((term) => tokens.has(term))] as const)
  return {
    flagged: found.some(([, isFound]) => isFound),
    categories: Object.fromEntries(found),
    category_scores: Object.fromEntries(found.map(([name, isFound]) => [name, isFound ? FLAGGED_SCORE : OTHER_SCORE])),
    category_applied_input_types: Object.fromEntries(found.map(([name, isFound]) => [name, isFound ? ["text"] : []])),
  }
}
