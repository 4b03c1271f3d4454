import type { AnyRequest } from "@agentclientprotocol/sdk"
import { expect, test } from "vitest"
import { ClientRequests } from "../../src/daemon/agent/client-requests.ts"

/** The call that the gateway receives for a permission request with this call. */
function passed(toolCall: object, titlesAreCommands: boolean): unknown {
  const sent: AnyRequest[] = []
  const requests = new ClientRequests({ cwd: "/work", titlesAreCommands }, (request) => sent.push(request))
  const params = { sessionId: "s", options: [], toolCall: { toolCallId: "t", title: "rm -r build", ...toolCall } }
  requests.pass({ jsonrpc: "2.0", id: 1, method: "session/request_permission", params })
  expect(sent).toMatchObject([{ params: { sessionId: "s", _meta: { cwd: "/work" } } }])
  return sent.map((request) => (request.params as { toolCall: unknown }).toolCall)[0]
}

test("the title of a command becomes its input, for an agent that sends no input", () => {
  const execute = { kind: "execute" }
  expect(passed(execute, true)).toMatchObject({ rawInput: { command: "rm -r build" } })
  expect(passed(execute, false)).not.toHaveProperty("rawInput")
  expect(passed({ kind: "edit" }, true)).not.toHaveProperty("rawInput")
  const rawInput = { command: "rm -r dist" }
  expect(passed({ ...execute, rawInput }, true)).toMatchObject({ rawInput })
})
