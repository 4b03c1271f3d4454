import { describe, expect, test } from "vitest"
import { parseAcp, type AcpMessage } from "../../src/interns/run/acp.ts"
import { cutMiddle, MAX_DETAIL_LENGTH } from "../../src/interns/run/permission-details.ts"
import { ToolCalls } from "../../src/interns/run/tool-calls.ts"

const permission = (toolCall: unknown): AcpMessage => {
  const options = [{ optionId: "a", kind: "allow_once" }]
  return { jsonrpc: "2.0", id: 1, method: "session/request_permission", params: { sessionId: "s", toolCall, options } }
}
const update = (fields: object): AcpMessage => {
  return { jsonrpc: "2.0", method: "session/update", params: { sessionId: "s", update: fields } }
}
const detailsOf = (toolCall: unknown) => parseAcp(permission(toolCall))

describe("a question shows what would happen", () => {
  test("the command of each agent, with its working directory", () => {
    expect(detailsOf({ name: "shell", rawInput: { command: "ls" } })).toMatchObject({ details: { command: "ls" } })
    expect(detailsOf({ title: "bash", rawInput: { command: ["git", "push"], cwd: "/repo" } })).toMatchObject({
      details: { command: "git push", folder: "/repo" },
    })
    expect(detailsOf({ title: "`rm -rf build`", kind: "execute" })).toMatchObject({
      operation: "`rm -rf build`",
      details: {},
    })
    expect(detailsOf({ name: "Bash", title: "`rm -rf build`" })).toMatchObject({ details: { command: "rm -rf build" } })
  })

  test("the URL of a fetch, the diff of an edit, the file of a write", () => {
    expect(detailsOf({ title: "webfetch", rawInput: { url: "https://example.com/a", format: "text" } })).toMatchObject({
      details: { url: "https://example.com/a" },
    })
    const content = [{ type: "diff", path: "/a.txt", oldText: "one", newText: "two" }]
    expect(detailsOf({ title: "Edit", content, locations: [{ path: "/a.txt" }] })).toMatchObject({
      details: { diffs: [{ path: "/a.txt", before: "one", after: "two" }] },
    })
    expect(detailsOf({ title: "Write", rawInput: { file_path: "/b.txt", content: "new" } })).toMatchObject({
      details: { diffs: [{ path: "/b.txt", before: null, after: "new" }] },
    })
  })

  test("the whole input of a tool that is none of these", () => {
    expect(detailsOf({ title: "mcp__mail__send", rawInput: { to: "ann@example.com" } })).toMatchObject({
      details: { input: '{"to":"ann@example.com"}' },
    })
  })

  test("both ends of a long text, and how much is left out", () => {
    const long = `${"a".repeat(20_000)}; rm -rf /`
    const { details } = detailsOf({ name: "shell", rawInput: { command: long } }) as { details: { command: string } }
    expect(details.command).toMatch(/^aaaa/)
    expect(details.command).toMatch(/; rm -rf \/$/)
    expect(details.command).toContain(`(${long.length - MAX_DETAIL_LENGTH} of ${long.length} characters left out)`)
    expect(cutMiddle("x".repeat(MAX_DETAIL_LENGTH))).toHaveLength(MAX_DETAIL_LENGTH)
  })

  test("what an earlier update said of the call, where the request has its id alone", () => {
    const calls = new ToolCalls()
    calls.complete(
      update({ sessionUpdate: "tool_call", toolCallId: "c", title: "Bash", rawInput: {}, status: "pending" }),
    )
    calls.complete(
      update({ sessionUpdate: "tool_call_update", toolCallId: "c", rawInput: { command: "make deploy", cwd: "/app" } }),
    )
    expect(parseAcp(calls.complete(permission({ toolCallId: "c" })))).toMatchObject({
      operation: "Bash",
      details: { command: "make deploy", folder: "/app" },
    })
    expect(parseAcp(calls.complete(permission({ toolCallId: "other" })))).toMatchObject({ details: {} })
  })

  test("nothing of a call that is over", () => {
    const calls = new ToolCalls()
    calls.complete(update({ sessionUpdate: "tool_call", toolCallId: "c", rawInput: { command: "old" } }))
    calls.complete(update({ sessionUpdate: "tool_call_update", toolCallId: "c", status: "completed" }))
    expect(parseAcp(calls.complete(permission({ toolCallId: "c" })))).toMatchObject({ details: {} })
  })
})
