import { beforeAll, describe, expect, test } from "vitest"
import { expectJson, newWorkspace, operatorClient, type TestClient, type Workspace } from "../support/world.ts"

/** Names are shown in the console, in logs, on command lines and in e-mails, and some are sent in headers. */

const unique = () => `n${crypto.randomUUID().slice(0, 8)}`
const hook = { url: "https://hooks.example.com/" }

/** Routes that create a record with a name, and the field that has it. */
const routes: Readonly<Record<string, (name: string) => object>> = {
  "/keys": (name) => ({ name }),
  "/keys for an external user": (user) => ({ name: "a key", external: { user } }),
  "/workspaces": (name) => ({ name, slug: unique() }),
  "/guardrails": (name) => ({ name }),
  "/byok": (name) => ({ name, provider: "openai", key: "sk-a-key-of-a-customer" }),
  "/mcp-servers": (name) => ({ name, slug: unique(), ...hook }),
  "/passthrough-services": (name) => ({
    name,
    slug: unique(),
    base_url: hook.url,
    rules: [{ path: "/*", price_usd: 0 }],
  }),
  "/observability/destinations": (name) => ({ name, type: "webhook", config: hook }),
  "/alerts/channels": (name) => ({ name, type: "slack", config: hook }),
  "/scim/directories": (name) => ({ name }),
  "/organization/members": (name) => ({ email: `${unique()}@example.com`, first_name: name }),
  "/auth/keys/code": (name) => ({ callback_url: "https://app.example/back", key_label: name }),
  "/organizations": (name) => ({ name }),
}

let workspace: Workspace
beforeAll(async () => {
  workspace = await newWorkspace()
})

const callerOf = (route: string): TestClient =>
  route === "/organizations" ? operatorClient : route === "/auth/keys/code" ? workspace.as : workspace.manage

describe.each(Object.entries(routes))("a name in POST %s", (route, bodyOf) => {
  const [path = ""] = route.split(" ")

  test("is rejected with characters that are not printable on one line", async () => {
    for (const text of ["\u0000", "\n", "\r\nX-Header: 1", "\u001b[2J", "\u2028", "\u202e", " "]) {
      const name = text === " " ? text : `a${text}b`
      const answer = await expectJson<{ error: { message: string } }>(400, callerOf(route).post(path, bodyOf(name)))
      expect(answer.error.message).toMatch(/one line|blank|empty/)
    }
  })

  test("is accepted in any script", async () => {
    const response = await callerOf(route).post(path, bodyOf("Größe 大きさ (2)"))
    expect([response.status, await response.text()]).toEqual([
      expect.toSatisfy((status) => status < 300),
      expect.anything(),
    ])
  })
})
