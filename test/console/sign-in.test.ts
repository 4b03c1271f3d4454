import { once } from "node:events"
import { mkdtempSync } from "node:fs"
import http from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import path from "node:path"
import { exportJWK, generateKeyPair, SignJWT } from "jose"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { byNode, end, npmStart, type Started } from "../acceptance/npm-start.ts"
import { hasChromium, newVisit } from "./browser.ts"
import { removeFolder } from "../support/remove-folder.ts"

/** The person at the identity provider; null cancels. */
let person: { email: string; email_verified: boolean } | null = null
const codes = new Map<string, string>()
const keys = await generateKeyPair("ES256")

/** An identity provider whose page sends the browser back at once. */
const provider = http.createServer((request, response) => {
  void answer(new URL(request.url ?? "/", issuer()), request).then(({ location, json }) => {
    if (location !== undefined) response.writeHead(302, { location }).end()
    else response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(json))
  })
})
const issuer = () => `http://127.0.0.1:${(provider.address() as AddressInfo).port}`

async function answer(
  { pathname, searchParams }: URL,
  request: http.IncomingMessage,
): Promise<{ location?: string; json?: unknown }> {
  if (pathname === "/authorize") {
    const back = new URL(searchParams.get("redirect_uri") ?? "")
    back.searchParams.set("state", searchParams.get("state") ?? "")
    const code = crypto.randomUUID()
    if (person) codes.set(code, searchParams.get("nonce") ?? "")
    if (person) back.searchParams.set("code", code)
    else back.searchParams.set("error", "access_denied")
    return { location: back.href }
  }
  if (pathname === "/keys") return { json: { keys: [{ ...(await exportJWK(keys.publicKey)), alg: "ES256" }] } }
  if (pathname === "/token") {
    let body = ""
    for await (const chunk of request) body += String(chunk)
    const nonce = codes.get(new URLSearchParams(body).get("code") ?? "")
    const token = new SignJWT({ ...person, nonce }).setProtectedHeader({ alg: "ES256" }).setIssuedAt()
    const claims = token.setIssuer(issuer()).setAudience("gateway").setSubject("1").setExpirationTime("5 minutes")
    return { json: { id_token: await claims.sign(keys.privateKey), access_token: "unused" } }
  }
  const at = (name: string) => `${issuer()}/${name}`
  return {
    json: {
      issuer: issuer(),
      authorization_endpoint: at("authorize"),
      token_endpoint: at("token"),
      jwks_uri: at("keys"),
    },
  }
}

const state = mkdtempSync(path.join(tmpdir(), "gateway-sign-in-"))
let gateway: Started
beforeAll(async () => {
  if (!hasChromium) return
  provider.listen(0, "127.0.0.1")
  await once(provider, "listening")
  const variables = { OIDC_ISSUER: issuer(), OIDC_CLIENT_ID: "gateway" }
  gateway = await npmStart(state, (args) => byNode(args, variables))
})
afterAll(async () => {
  if (!hasChromium) return
  await end(gateway)
  provider.close()
  removeFolder(state)
})

describe.runIf(hasChromium)("sign-in with an identity provider", () => {
  test("an unknown user is sent back with the reason; a member sees the requested page, and signs out", async () => {
    const { page, context } = await newVisit()
    const { origin } = new URL(gateway.url)
    const button = page.getByRole("link", { name: "Continue with 127.0.0.1" })

    person = { email: "ada@example.com", email_verified: true }
    await page.goto(`${origin}/calls?status=failed`)
    await button.click()
    await page.getByRole("alert").getByText("You are not a member of an organization here").waitFor()

    const added = await fetch(`${gateway.url}/organization/members`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.managementKey}`, "content-type": "application/json" },
      body: JSON.stringify({ email: person.email, first_name: "Ada", last_name: "Lovelace" }),
    })
    expect(added.status).toBe(201)
    await page.goto(`${origin}/calls?status=failed`)
    await button.click()
    await page.getByRole("heading", { level: 1, name: "Calls" }).waitFor()
    expect(page.url()).toBe(`${origin}/calls?status=failed`)
    // A member does not manage the team.
    expect(await page.getByRole("link", { name: "Team" }).count()).toBe(0)

    await page.getByRole("button", { name: "Ada Lovelace" }).click()
    await page.getByRole("button", { name: "Sign out" }).click()
    await button.waitFor()
    person = null
    await button.click()
    await page.getByRole("alert").getByText("The sign-in was cancelled.").waitFor()
    await context.close()
  })
})
