import { atomEnd, isDelimiter, skipWhite } from "./syntax.ts"

/** Operators that matter for text: text, its position, and drawing of forms. */
const KEPT = new Set("BT ET Tf Td TD Tm T* Tj TJ ' \" Tc Tw Tz TL Tr Ts cm q Q Do".split(" "))
const MAX_NESTED = 30

/** The contents of a page, or of a form that it draws. */
export type Content = {
  /** Its text operators. */
  text: string
  /** Cost of reading them: their bytes, and a fixed amount for each operator. */
  work: number
  /** How often each named object is drawn. */
  draws: Map<string, number>
  fonts: Set<string>
}

/** Work of an operator in addition to its bytes. */
const OPERATOR_WORK = 8

export function readContent(source: string): Content {
  const operations: string[] = []
  const draws = new Map<string, number>()
  const fonts = new Set<string>()
  let work = 0
  let operands = -1
  let name = ""
  let depth = 0
  for (let at = skipWhite(source, 0); at < source.length; at = skipWhite(source, at)) {
    const code = source.charCodeAt(at)
    const start = at
    if (isOperand(code)) {
      if (operands === -1) operands = start
      at = operandEnd(source, at)
      if (code === 47) name = source.slice(start + 1, at)
      continue
    }
    at = isDelimiter(code) ? at + 1 : Math.max(at + 1, operatorEnd(source, at))
    const operator = source.slice(start, at)
    if (operator === "BI") at = imageEnd(source, at)
    // Excess `Q` and `q` operators only cost work.
    if (operator === "q" && ++depth > MAX_NESTED) continue
    if (KEPT.has(operator)) {
      operations.push(source.slice(operands === -1 ? start : operands, at))
      work += at - (operands === -1 ? start : operands) + OPERATOR_WORK
      if (operator === "Do") draws.set(name, (draws.get(name) ?? 0) + 1)
      if (operator === "Tf") fonts.add(name)
    }
    operands = -1
  }
  return { text: operations.join("\n"), work, draws, fonts }
}

/** `(`, `<`, `[`, `/`, a digit, a sign or a point. */
function isOperand(code: number): boolean {
  return (
    code === 40 ||
    code === 60 ||
    code === 91 ||
    code === 47 ||
    (code >= 48 && code <= 57) ||
    code === 43 ||
    code === 45 ||
    code === 46
  )
}

function operandEnd(source: string, from: number): number {
  const code = source.charCodeAt(from)
  if (code === 91) {
    let at = skipWhite(source, from + 1)
    while (at < source.length && source.charCodeAt(at) !== 93) {
      at = skipWhite(source, Math.max(at + 1, atomEnd(source, at)))
    }
    return at + 1
  }
  if (code === 60 && source.charCodeAt(from + 1) === 60) {
    const end = source.indexOf(">>", from)
    return end === -1 ? source.length : end + 2
  }
  return Math.max(from + 1, atomEnd(source, from))
}

/** Operators consist of letters, `'`, `"` and `*`. */
function operatorEnd(source: string, from: number): number {
  const end = atomEnd(source, from)
  return end > from ? end : from + 1
}

/** An inline image ends with EI between two spaces. */
function imageEnd(source: string, from: number): number {
  const end = /[\s\0]EI(?=[\s\0]|$)/g
  end.lastIndex = from
  return end.test(source) ? end.lastIndex : source.length
}
