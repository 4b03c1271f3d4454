import type { Mutant } from "./mutant.ts"

const SCANNER = "src/guardrails/content/stream-scanner.ts"
const SCANNER_TEST = "test/guardrails/scanner.test.ts"
const RELAY = "src/inference/relay/event-relay.ts"
const FILTER = "src/guardrails/content/response-filter.ts"
const RELAY_TEST = "test/inference/event-relay.test.ts"

/** Faults with which a stream would leak text that a guardrail removes. */
export const guardrailMutants: readonly Mutant[] = [
  {
    name: "the tables read characters that detectors skip",
    file: SCANNER,
    from: `if (rune === IGNORED) return { row, idleAt, closedAt: -1, hasEnd, needsNfa: true }`,
    to: `if (rune === IGNORED) continue`,
    test: SCANNER_TEST,
  },
  {
    name: "the character before a candidate is forgotten",
    file: SCANNER,
    from: `this.#before = runeBefore(text, at, this.#normalizes)`,
    to: `this.#before = BEFORE_TEXT`,
    test: SCANNER_TEST,
  },
  {
    name: "a match at the end of a stream is missed",
    file: SCANNER,
    from: ` || (isLast && this.#mayEndHere)`,
    to: ``,
    test: SCANNER_TEST,
  },
  {
    name: "text of a candidate is released",
    file: SCANNER,
    from: `this.#length - this.#candidate.length - this.#half.length`,
    to: `this.#length - this.#half.length`,
    test: SCANNER_TEST,
  },
  {
    name: "rows of dropped tables are used",
    file: SCANNER,
    from: `if (this.#generation !== forward.generation) {`,
    to: `if (this.#generation === -1) {`,
    test: SCANNER_TEST,
  },
  {
    name: "a candidate with a trigger is not read",
    file: SCANNER,
    from: `if (this.#hasTrigger?.(closed)) return true`,
    to: ``,
    test: "test/guardrails/personal-data.test.ts",
  },
  {
    name: "a blocked frame is sent",
    file: RELAY,
    from: `    if (filter?.isBlocked) {
      this.stopReason = "blocked"
      return true
    }`,
    to: ``,
    test: RELAY_TEST,
  },
  {
    name: "frames overtake delayed text",
    file: FILTER,
    from: `if (this.isBlocked || this.#queues.size > 0) return undefined`,
    to: `if (this.isBlocked) return undefined`,
    test: RELAY_TEST,
  },
  {
    name: "other texts of a known shape are not filtered",
    file: "src/guardrails/content/texts/chunk-texts.ts",
    from: `if (hasTexts(chunk, RESULT_FIELDS) || hasTexts(choice, CHOICE_FIELDS)) return undefined`,
    to: ``,
    test: RELAY_TEST,
  },
  {
    name: "a recognized frame is sent unfiltered",
    file: RELAY,
    from: `shape.write(released.texts, this.#out)`,
    to: `shape.write(
      slots.map((index) => strings[index] ?? ""),
      this.#out,
    )`,
    test: RELAY_TEST,
  },
]
