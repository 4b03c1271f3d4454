import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { type AcpMessage, parseAcp } from "../../src/interns/run/acp/acp.ts"
import { MAX_DETAIL_LENGTH } from "../../src/interns/run/permission-details.ts"
import { subjectOf } from "../../src/interns/run/session-permission.ts"

const permissionFor = (toolCall: object) => {
  const message: AcpMessage = {
    jsonrpc: "2.0",
    id: 1,
    method: "session/request_permission",
    params: { sessionId: "s", toolCall, options: [] },
  }
  const news = parseAcp(message)
  if (news.is !== "permission") throw new Error("no permission request")
  return news
}
const key = (toolCall: object) => subjectOf(permissionFor(toolCall))?.key

describe("an answer for the rest of a session", () => {
  test("applies to the same command in the same folder, the same URL, the same files or the same tool", () => {
    const run = { title: "Bash", rawInput: { command: "make", cwd: "/a" } }
    expect(subjectOf(permissionFor(run))).toMatchObject({ name: "make" })
    expect(key(run)).not.toBe(key({ ...run, rawInput: { command: "make", cwd: "/b" } }))
    expect(key({ title: "fetch", rawInput: { url: "https://a.test/" } })).not.toBe(
      key({ title: "fetch", rawInput: { url: "https://b.test/" } }),
    )
    const edit = (file: string, text: string) => ({ title: "Edit", rawInput: { file_path: file, new_string: text } })
    expect(key(edit("/a.txt", "one"))).toBe(key(edit("/a.txt", "two")))
    expect(key(edit("/a.txt", "one"))).not.toBe(key(edit("/b.txt", "one")))
    expect(key({ title: "mail", rawInput: { to: "ann" } })).toBe(key({ title: "mail", rawInput: { to: "bob" } }))
    expect(subjectOf({ operation: null })).toBeUndefined()
  })

  test("never applies to another command or to one that was cut", () => {
    const commands = fc.oneof(
      fc.string({ minLength: 1 }),
      fc.integer({ min: MAX_DETAIL_LENGTH - 2, max: MAX_DETAIL_LENGTH + 50 }).map((length) => "x".repeat(length)),
    )
    fc.assert(
      fc.property(commands, commands, (one, other) => {
        const [first, second] = [one, other].map((command) => key({ title: "Bash", rawInput: { command } }))
        if (one !== other && first !== undefined) expect(first).not.toBe(second)
        expect(first === undefined).toBe(one.length > MAX_DETAIL_LENGTH)
      }),
    )
  })
})
