import { execFileSync } from "node:child_process"
import { runInNewContext } from "node:vm"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { LANGUAGES, snippet } from "../../../src/console/pages/playground/snippets.ts"

const body = (text: string) => ({ model: "sim/echo", messages: [{ role: "user", content: text }], temperature: 0.5 })

test("the snippet of every language reads the key from the environment", () => {
  for (const { id } of LANGUAGES)
    expect(snippet(id, "https://gateway.test/api/v1", body("Hello"))).toContain("GATEWAY_API_KEY")
})

test("a prompt with quotes stays one shell argument", () => {
  const text = `It's "quoted", with $HOME, \`id\`, \\ and 'more'`
  const code = snippet("curl", "https://gateway.test/api/v1", body(text))
  // `curl` is a function that prints the last argument: the body.
  const printed = execFileSync("bash", ["-c", `curl() { printf %s "\${@: -1}"; }\n${code}`], { encoding: "utf8" })
  expect(JSON.parse(printed)).toEqual({ ...body(text), stream: true })
})

test("JSON literals become Python literals except inside strings", () => {
  const code = snippet("python", "https://gateway.test/api/v1", { ...body("true and null"), provider: { zdr: true } })
  expect(code).toContain("stream=True")
  expect(code).toContain('"zdr": True')
  expect(code).toContain('"true and null"')
})

test("a text never ends the string literal of a script", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const code = snippet("openai", "https://gateway.test/api/v1", body(text))
      const argument = code.slice(code.indexOf("create(") + 7, code.lastIndexOf(")\nfor await"))
      const parsed = runInNewContext(`(${argument})`) as { messages: { content: string }[] }
      expect(parsed.messages[0]?.content).toBe(text)
    }),
  )
})
