import { expect, test } from "vitest"
import { expectJson } from "../support/world.ts"
import { newDirectory, type Resource, USER } from "./directory.ts"

const CONTROLS = ["\u0000", "\u0007", "\u001b[2J", "\n", "\r\n", "\u2028", "\u202e"]

test.each(CONTROLS)(
  "the control characters %j become a space in names, and are rejected in identifiers",
  async (text) => {
    const { workspace, push } = await newDirectory()
    const name = `${crypto.randomUUID()}@example.com`
    const named = { givenName: `Ada${text}Byron`, familyName: `${text}Lovelace${text}` }
    const addresses = [{ formatted: `1 Street\nCity${text === "\u0007" ? text : ""}`, type: "work" }]
    const body = { schemas: [USER], userName: name, name: named, title: text, addresses }
    const user = await expectJson<Resource>(201, push("POST", "/Users", body))
    expect(user["name"]).toEqual({
      givenName: expect.stringMatching(/^Ada [^\p{Cc}]*Byron$/u),
      familyName: expect.anything(),
    })
    expect(JSON.stringify(user["name"])).not.toMatch(/\\u00|\\n|\\r|[\u2028\u202e]/)
    expect(user["addresses"]).toEqual([{ formatted: "1 Street\nCity", type: "work" }])
    for (const [path, operation] of [
      ["userName", { op: "replace", path: "userName", value: `ada${text}` }],
      ["externalId", { op: "add", value: { externalId: `00${text}1` } }],
      ["emails", { op: "replace", path: "emails", value: [{ value: `a${text}@example.com` }] }],
    ] as const) {
      const changed = push("PATCH", `/Users/${user.id}`, {
        schemas: ["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
        Operations: [operation],
      })
      const refused = await expectJson<{ detail: string }>(400, changed)
      expect(refused.detail).toContain(path)
    }
    const group = { schemas: ["urn:ietf:params:scim:schemas:core:2.0:Group"], displayName: `Team${text}1` }
    await expectJson(400, push("POST", "/Groups", group))
    const { data } = await expectJson<{ data: object[] }>(200, workspace.manage.get("/organization/members"))
    expect(JSON.stringify(data)).not.toMatch(/\\u00|\\n|\\r|[\u2028\u202e]/)
  },
)
