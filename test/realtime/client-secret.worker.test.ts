import { expect, test } from "vitest"
import * as fc from "fast-check"
import { openClientSecret, sealClientSecret } from "../../src/inference/realtime/client-secret.ts"
import { eventually } from "../support/eventually.ts"
import { openSession, requestSession } from "../support/realtime.ts"
import { client, expectJson, newKey, newWorkspace } from "../support/world.ts"

type Secret = { value: string; expires_at: number; session: { model: string } }
const REQUEST = { session: { type: "realtime", model: "sim/realtime", instructions: "Be brief." } }

test("a client secret opens sessions with its model and configuration, charged to its key", async () => {
  const workspace = await newWorkspace()
  const child = await newKey(workspace, { limit: 5 })
  const secret = await expectJson<Secret>(200, child.as.post("/realtime/client_secrets", REQUEST))
  expect(secret.expires_at * 1_000).toBeGreaterThan(Date.now() + 500_000)
  const session = await openSession(secret.value)
  expect(await session.next("session.updated")).toMatchObject({ session: { instructions: "Be brief." } })
  await session.prompt("rivers")
  session.close()
  await eventually(async () => {
    const [{ total } = { total: { spent: 0 } }] = await workspace.ledger.usage([child.hash])
    expect(total.spent).toBeGreaterThan(0)
  })
})

test("a client secret is rejected for another model and any other route", async () => {
  const workspace = await newWorkspace()
  const { value } = await expectJson<Secret>(200, workspace.as.post("/realtime/client_secrets", REQUEST))
  await expectJson(403, requestSession(value, "sim/realtime-endless"))
  await expectJson(401, client(value).chat("sim/echo", "hello"))
  await expectJson(401, client(value).get("/key"))
  await expectJson(401, client(value).post("/realtime/client_secrets", REQUEST))
})

test("a client secret becomes invalid with its key", async () => {
  const workspace = await newWorkspace()
  const child = await newKey(workspace)
  const { value } = await expectJson<Secret>(200, child.as.post("/realtime/client_secrets", REQUEST))
  await expectJson(200, workspace.manage.delete(`/keys/${child.hash}`))
  await eventually(async () => expectJson(401, requestSession(value, "sim/realtime")))
})

test("a client secret is not created for an invalid session", async () => {
  const workspace = await newWorkspace()
  const post = (session: object, status: number) =>
    expectJson(status, workspace.as.post("/realtime/client_secrets", { session }))
  await post({ type: "realtime", model: "sim/unknown" }, 404)
  await post({ type: "realtime", model: "sim/echo" }, 404)
  await post({ type: "realtime" }, 400)
  await post({ type: "transcription", model: "sim/realtime" }, 400)
  await post({ ...REQUEST.session, tools: [{ type: "mcp", server_label: "x" }] }, 400)
  await post({ ...REQUEST.session, instructions: "é".repeat(2_001) }, 400)
})

const masters = { current: Buffer.alloc(32, 7).toString("base64"), previous: undefined }

test("a client secret that was modified or has expired is rejected", async () => {
  const secret = { keyHash: "k", model: "m", session: {}, expiresAt: 1_000 }
  const sealed = await sealClientSecret(secret, masters)
  expect(await openClientSecret(sealed, masters, 999)).toEqual(secret)
  expect(await openClientSecret(sealed, masters, 1_000)).toBeUndefined()
  const other = { ...masters, current: Buffer.alloc(32, 8).toString("base64") }
  expect(await openClientSecret(sealed, other, 999)).toBeUndefined()
  expect(await openClientSecret(sealed, { ...other, previous: masters.current }, 999)).toEqual(secret)
  await fc.assert(
    fc.asyncProperty(fc.nat(sealed.length - 5), fc.constantFrom("A", "z", "0", "-"), async (at, char) => {
      const position = at + 3
      // The last character of base64 may have unused bits.
      fc.pre(sealed[position] !== char && position < sealed.length - 1)
      const changed = sealed.slice(0, position) + char + sealed.slice(position + 1)
      expect(await openClientSecret(changed, masters, 999)).toBeUndefined()
    }),
  )
})
