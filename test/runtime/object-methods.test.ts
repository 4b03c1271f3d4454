import { globSync, readFileSync } from "node:fs"
import path from "node:path"
import { describe, expect, test } from "vitest"
import { root } from "../../src/local/paths.ts"
import { previous, readPrevious } from "./previous-release.ts"

type Class = { name: string; base: string; methods: string[] }

/** Methods that the runtime calls, which have no caller in another version. */
const OF_THE_RUNTIME = /^(constructor|alarm|fetch|webSocket\w+)$/

/** The classes of a file whose methods can be called by RPC, in the format of the project. */
function classesOf(text: string): Class[] {
  return text.split(/^(?=export (?:abstract )?class )/m).flatMap((part): Class[] => {
    const [, name, base] = /^export (?:abstract )?class (\w+) extends (DurableObject|Intern\w*)\b/.exec(part) ?? []
    if (name === undefined || base === undefined) return []
    const methods = [...part.matchAll(/^ {2}(?:override )?(?:async )?(\w+)\(/gm)].map(([, method = ""]) => method)
    return [{ name, base, methods: methods.filter((method) => !OF_THE_RUNTIME.test(method)) }]
  })
}

/** With those of their base classes. */
function methodsOf(name: string, classes: readonly Class[]): string[] {
  const found = classes.find((one) => one.name === name)
  return found ? [...found.methods, ...methodsOf(found.base, classes)] : []
}

const present = globSync("durable-objects/**/*.ts", { cwd: root }).flatMap((file) =>
  classesOf(readFileSync(path.join(root, file), "utf8")),
)

describe.runIf(previous)("during a deploy", () => {
  test("isolates of the previous release find every method that they call in this release's objects", () => {
    const former = readPrevious("durable-objects").flatMap(classesOf)
    expect(former.map(({ name }) => name)).toEqual(expect.arrayContaining(["Ledger", "Intern"]))
    const missing = former.flatMap(({ name, methods }) =>
      methods.filter((method) => !methodsOf(name, present).includes(method)).map((method) => `${name}.${method}`),
    )
    expect(missing).toEqual([])
  })
})
