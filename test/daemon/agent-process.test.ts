import { tmpdir } from "node:os"
import { Readable } from "node:stream"
import { expect, onTestFinished, test } from "vitest"
import { startAgent } from "../../src/daemon/agent/agent-process.ts"
import { limitLines } from "../../src/daemon/limit-lines.ts"

/** An agent that answers each request with the fields that its parameters have. */
const AGENT = `
  const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n")
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line)
    if (params.endless) return setInterval(() => process.stdout.write("x".repeat(1_048_576)), 1)
    send({ id, ...(method === "initialize" ? { result: { protocolVersion: 1 } } : params) })
  })
`

async function agent() {
  const exits: (number | null)[] = []
  const command = { argv: [process.execPath, "-e", AGENT], cwd: tmpdir(), env: {}, uid: undefined }
  const started = await startAgent(command, { onMessage: () => undefined, onExit: (code) => exits.push(code) })
  onTestFinished(() => started.stop())
  return { ask: (fields: object) => started.request("session/prompt", fields), exits }
}

test("a response with null in the field that does not apply is read by the other one", async () => {
  const { ask, exits } = await agent()
  expect(await ask({ result: { stopReason: "end_turn" }, error: null })).toEqual({ stopReason: "end_turn" })
  await expect(ask({ result: null, error: { code: -32_000, message: "No." } })).rejects.toMatchObject({
    error: { code: -32_000, message: "No." },
  })
  expect(await ask({ error: null })).toEqual({})
  expect(await ask({})).toEqual({})
  expect(exits).toEqual([])
})

test.each([
  ["a text", "broken", { code: -32_603, message: "broken" }],
  ["a number", 7, { code: -32_603, message: "7" }],
  ["an object without a message", { code: "x", detail: 1 }, { code: -32_603, message: '{"code":"x","detail":1}' }],
  ["an object as message", { code: 5, message: { a: 1 }, data: null }, { code: 5, message: '{"a":1}' }],
])(
  "an error that is %s ends the request with a message, and the agent answers the next",
  async (_, error, expected) => {
    const { ask, exits } = await agent()
    await expect(ask({ error })).rejects.toMatchObject({ error: expected })
    expect(await ask({ result: { stopReason: "end_turn" } })).toEqual({ stopReason: "end_turn" })
    expect(exits).toEqual([])
  },
)

test("an agent that prints a line without an end is killed, and its request fails", async () => {
  const { ask, exits } = await agent()
  await expect(ask({ endless: true })).rejects.toMatchObject({ error: { code: -32_603 } })
  await expect.poll(() => exits).toEqual([null])
})

test("lines of 32 MB pass unchanged, and a longer one ends the output", async () => {
  const megabyte = Buffer.alloc(1_048_576, "x")
  const sizeOf = async (chunks: readonly Buffer[]) => {
    let size = 0
    const output = Readable.toWeb(Readable.from(chunks)) as ReadableStream<Uint8Array>
    for await (const chunk of output.pipeThrough(limitLines())) size += chunk.byteLength
    return size
  }
  const line = [...Array.from({ length: 32 }, () => megabyte), Buffer.from("\n")]
  expect(await sizeOf([...line, ...line])).toBe(2 * 32 * 1_048_576 + 2)
  await expect(sizeOf([...line.slice(0, -1), Buffer.from("x")])).rejects.toThrow("a line of more than 33554432 bytes")
})
