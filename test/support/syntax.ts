import { parseSync, Visitor } from "vite"

type SourceFile = { path: string; text: string }

/** Facts about the syntax of a file that the rules in `house.test.ts` count. */
export type Syntax = {
  path: string
  lines: number
  /** Lines of functions and methods with five or more positional parameters. */
  longSignatures: string[]
  /** Types that `as` asserts, except `const`. */
  casts: string[]
  identifiers: ReadonlySet<string>
}

const MAX_PARAMETERS = 4

export function syntaxOf({ path, text }: SourceFile): Syntax {
  const longSignatures: string[] = []
  const casts: string[] = []
  const identifiers = new Set<string>()
  const signature = ({ params, start }: { params: readonly { type: string }[]; start: number }): void => {
    if (params.filter(({ type }) => type !== "RestElement").length <= MAX_PARAMETERS) return
    longSignatures.push(`line ${text.slice(0, start).split("\n").length}`)
  }
  const visitor = new Visitor({
    FunctionDeclaration: signature,
    FunctionExpression: signature,
    ArrowFunctionExpression: signature,
    TSFunctionType: signature,
    TSMethodSignature: signature,
    TSAsExpression: ({ typeAnnotation: { start, end } }) => {
      const type = text.slice(start, end)
      if (type !== "const") casts.push(type)
    },
    TSTypeAssertion: ({ typeAnnotation: { start, end } }) => void casts.push(text.slice(start, end)),
    Identifier: ({ name }) => void identifiers.add(name),
    PrivateIdentifier: ({ name }) => void identifiers.add(name),
  })
  visitor.visit(parseSync(path, text).program)
  return { path, lines: text.split("\n").length, longSignatures, casts, identifiers }
}
