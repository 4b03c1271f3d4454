import { type LabelledLine, toLine } from "./labelled-line.ts"

const [corpus = ""] = Object.values(
  import.meta.glob<string>(["../fixtures/guardrail-corpus.txt"], { query: "?raw", import: "default", eager: true }),
)

export type CorpusLine = LabelledLine

export const corpusLines: readonly CorpusLine[] = corpus.trimEnd().split("\n").map(toLine)
