import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { parseAcp, type AcpMessage } from "../../src/interns/run/acp/acp.ts"
import { fieldError } from "../../src/interns/run/form.ts"
import { truncateMiddle, MAX_DETAIL_LENGTH } from "../../src/interns/run/permission-details.ts"
import { ToolCallChanges, ToolCalls } from "../../src/interns/run/tool-calls.ts"

const permission = (toolCall: unknown, more: object = {}): AcpMessage => {
  const params = { sessionId: "s", toolCall, options: [{ optionId: "a", kind: "allow_once" }], ...more }
  return { jsonrpc: "2.0", id: 1, method: "session/request_permission", params }
}
const update = (fields: object): AcpMessage => {
  return { jsonrpc: "2.0", method: "session/update", params: { sessionId: "s", update: fields } }
}
const detailsOf = (toolCall: unknown) => parseAcp(permission(toolCall))

describe("a question shows", () => {
  test("the command of each agent with its working directory", () => {
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

  test("the daemon's folder when the agent names none for its command", () => {
    const details = (rawInput: object) => parseAcp(permission({ title: "bash", rawInput }, { _meta: { cwd: "/work" } }))
    expect(details({ command: "ls" })).toMatchObject({ details: { command: "ls", folder: "/work" } })
    expect(details({ command: "ls", workdir: "/repo" })).toMatchObject({ details: { folder: "/repo" } })
    expect(details({ url: "https://example.com" })).not.toHaveProperty("details.folder")
  })

  test("an edit once as the agent's diff, and its input as well when the diff was cut or differs", () => {
    const rawInput = { file_path: "/a.txt", old_string: "one", new_string: "two" }
    const diffs = (oldText: string, path = "/a.txt") => {
      const content = [{ type: "diff", path, oldText, newText: oldText.replace("one", "two") }]
      return (detailsOf({ title: "Edit", content, rawInput }) as { details: { diffs: object[] } }).details.diffs
    }
    const edit = { path: "/a.txt", before: "one", after: "two" }
    expect(diffs("one line")).toEqual([{ path: "/a.txt", before: "one line", after: "two line" }])
    expect(diffs(`${"x".repeat(MAX_DETAIL_LENGTH)}one`)).toEqual([expect.objectContaining({ path: "/a.txt" }), edit])
    expect(diffs("one", "/b.txt")).toEqual([{ ...edit, path: "/b.txt" }, edit])
  })

  test("the URL of a fetch, the diff of an edit, the content of a written file", () => {
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

  test("the complete input of any other tool", () => {
    expect(detailsOf({ title: "mcp__mail__send", rawInput: { to: "ann@example.com" } })).toMatchObject({
      details: { input: '{"to":"ann@example.com"}' },
    })
  })

  test("both ends of a long text with the number of omitted characters", () => {
    const long = `${"a".repeat(20_000)}; rm -rf /`
    const { details } = detailsOf({ name: "shell", rawInput: { command: long } }) as { details: { command: string } }
    expect(details.command).toMatch(/^aaaa/)
    expect(details.command).toMatch(/; rm -rf \/$/)
    expect(details.command).toContain(`(${long.length - MAX_DETAIL_LENGTH} of ${long.length} characters left out)`)
    expect(truncateMiddle("x".repeat(MAX_DETAIL_LENGTH))).toHaveLength(MAX_DETAIL_LENGTH)
  })

  test("the details of an earlier update when the request has only the id of the call", () => {
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

  test("no details of a completed call", () => {
    const calls = new ToolCalls()
    calls.complete(update({ sessionUpdate: "tool_call", toolCallId: "c", rawInput: { command: "old" } }))
    calls.complete(update({ sessionUpdate: "tool_call_update", toolCallId: "c", status: "completed" }))
    expect(parseAcp(calls.complete(permission({ toolCallId: "c" })))).toMatchObject({ details: {} })
  })
})

describe("the answer to a form", () => {
  const name = fc.constantFrom("constructor", "toString", "__proto__", "valueOf", "name")

  test("is checked by its own fields, whatever names the agent gives them", () => {
    fc.assert(
      fc.property(fc.uniqueArray(name), fc.uniqueArray(name), (required, optional) => {
        const others = optional.filter((one) => !required.includes(one))
        const fields = [...required, ...others].map((one) => ({
          name: one,
          type: "string",
          required: required.includes(one),
        }))
        const answers = JSON.parse(`{${required.map((one) => `${JSON.stringify(one)}:"x"`).join()}}`) as Record<
          string,
          unknown
        >
        expect(fieldError(fields, answers)).toBeUndefined()
        const missing = required.length > 0 ? `content: must have ${required.join(", ")}.` : undefined
        expect(fieldError(fields, {})).toBe(missing)
      }),
    )
  })
})

describe("the transcript of a tool call", () => {
  const newsOf = (fields: object) => {
    const news = parseAcp(update({ toolCallId: "c", ...fields }))
    if (news.is !== "tool") throw new Error(`no tool call in ${JSON.stringify(fields)}`)
    return news
  }
  const call = (fields: object) => newsOf({ sessionUpdate: "tool_call", ...fields })
  const later = (fields: object) => newsOf({ sessionUpdate: "tool_call_update", ...fields })

  test("has its exact command, URL, files or input, also when they arrive after its title", () => {
    const news = new ToolCallChanges()
    expect(news.entry(call({ title: "Bash", status: "pending", rawInput: {} }))).toEqual({
      kind: "tool_call",
      id: "c",
      title: "Bash",
      status: "pending",
    })
    expect(news.entry(later({ rawInput: { command: "git push", cwd: "/repo" } }))).toEqual({
      kind: "tool_call",
      id: "c",
      title: "Bash",
      status: "pending",
      command: "git push",
      folder: "/repo",
    })
    expect(call({ title: "fetch", rawInput: { url: "https://example.com/" } }).details).toEqual({
      url: "https://example.com/",
    })
    expect(call({ title: "Read", rawInput: { file_path: "/a.txt" } }).details).toMatchObject({ paths: ["/a.txt"] })
    expect(call({ title: "send", rawInput: { to: "ann" } }).details).toEqual({ input: '{"to":"ann"}' })
    // A title is not a command, except in a permission request.
    expect(call({ title: "Thinking" }).details).toEqual({})
  })

  test("has one entry however often the agent repeats the call with its output", () => {
    const news = new ToolCallChanges()
    const fields = { title: "bash", status: "in_progress", rawInput: { command: "make" } }
    expect(news.entry(call(fields))).toMatchObject({ command: "make" })
    const content = [{ type: "content", content: { type: "text", text: "output" } }]
    expect(news.entry(later({ ...fields, content }))).toBeUndefined()
    expect(news.entry(later({ ...fields, status: "completed" }))).toEqual({
      kind: "tool_call",
      id: "c",
      title: "bash",
      status: "completed",
    })
  })

  test("is cut in the middle, and its merged entries equal the last updates", () => {
    const texts = fc.oneof(
      fc.string(),
      fc.integer({ min: 0, max: 30_000 }).map((length) => "x".repeat(length)),
    )
    const updates = fc.record(
      {
        title: fc.string(),
        status: fc.constantFrom("pending", "in_progress"),
        rawInput: fc.record({ command: texts }),
      },
      { requiredKeys: ["status"] },
    )
    fc.assert(
      fc.property(fc.array(updates, { minLength: 1, maxLength: 8 }), (all) => {
        const news = new ToolCallChanges()
        const entries = all.flatMap((fields) => news.entry(call(fields)) ?? [])
        const merged: Record<string, unknown> = Object.assign({}, ...entries)
        const command = all.findLast(({ rawInput }) => rawInput !== undefined)?.rawInput?.command
        expect(merged["command"]).toBe(command === undefined ? undefined : truncateMiddle(command))
        expect(merged["status"]).toBe(all.at(-1)?.status)
        for (const entry of entries) expect(JSON.stringify(entry).length).toBeLessThan(6 * MAX_DETAIL_LENGTH + 2_000)
        expect(news.entry(call({ ...merged, rawInput: {} }))).toBeUndefined()
      }),
    )
  })
})

test("a message of any shape is read without an exception, and a failure has a number and a text", () => {
  const field = fc.jsonValue({ maxDepth: 3 })
  const method = fc.constantFrom("session/update", "session/request_permission", "elicitation/create", "other")
  const shape = { id: field, method: fc.oneof(method, field), params: field, result: field, error: field }
  fc.assert(
    fc.property(fc.record(shape, { requiredKeys: [] }), (fields) => {
      const read = parseAcp({ jsonrpc: "2.0", ...fields } as AcpMessage)
      if (read.is === "failure") expect([typeof read.code, typeof read.message]).toEqual(["number", "string"])
    }),
  )
})
