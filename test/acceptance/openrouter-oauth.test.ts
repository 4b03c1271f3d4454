import { once } from "node:events"
import http from "node:http"
import type { AddressInfo } from "node:net"
import * as errors from "@openrouter/sdk/models/errors"
import type { Browser } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { hasChromium, launchChromium } from "../support/chromium.ts"
import { newOrganization, openrouter, type Organization } from "./world.ts"

const CALLBACK = "https://app.example/back"

let organization: Organization

beforeAll(async () => {
  organization = await newOrganization()
})

const refused = async (pending: Promise<unknown>, kind: new (...args: never[]) => Error) =>
  expect(pending).rejects.toBeInstanceOf(kind)

describe("the @openrouter/sdk client", () => {
  test("creates a code and exchanges it for a working key", async () => {
    const { oAuth } = openrouter(organization.apiKey)
    const { codeChallenge, codeVerifier } = await oAuth.createSHA256CodeChallenge()
    const { data } = await oAuth.createAuthCode({
      requestBody: { callbackUrl: CALLBACK, codeChallenge, codeChallengeMethod: "S256", keyLabel: "App", limit: 2 },
    })
    expect(data).toEqual({ id: expect.any(String), appId: expect.any(Number), createdAt: expect.any(String) })
    const exchanged = { code: data.id, codeVerifier, codeChallengeMethod: "S256" as const }
    const { key } = await openrouter("").oAuth.exchangeAuthCodeForAPIKey({ requestBody: exchanged })
    const current = await openrouter(key).apiKeys.getCurrentKeyMetadata()
    expect(current.data).toMatchObject({ limit: 2, isManagementKey: false })
    await refused(oAuth.exchangeAuthCodeForAPIKey({ requestBody: exchanged }), errors.ForbiddenResponseError)
  })

  test("has an error class for each failure", async () => {
    const { oAuth } = openrouter(organization.apiKey)
    const createCode = (callbackUrl: string, by = oAuth) => by.createAuthCode({ requestBody: { callbackUrl } })
    await refused(createCode("http://app.example"), errors.BadRequestResponseError)
    await refused(createCode(CALLBACK, openrouter("sk-wrong").oAuth), errors.UnauthorizedResponseError)
    const { data } = await openrouter(organization.managementKey).apiKeys.create({
      requestBody: { name: "limited", limit: 1 },
    })
    expect(data.limit).toBe(1)
    await refused(oAuth.exchangeAuthCodeForAPIKey({ requestBody: { code: "" } }), errors.BadRequestResponseError)
    await refused(oAuth.exchangeAuthCodeForAPIKey({ requestBody: { code: "x" } }), errors.ForbiddenResponseError)
  })

  test("reads the public keys, and gets OAuth errors for an invalid token", async () => {
    const { oAuth } = openrouter("")
    const { keys } = await oAuth.listOauthJwks()
    expect(keys).toHaveLength(1)
    const pending = oAuth.createOauthToken({
      tokenExchangeRequest: {
        federationPolicyId: "none",
        grantType: "urn:ietf:params:oauth:grant-type:token-exchange",
        subjectToken: "a.b.c",
        subjectTokenType: "urn:ietf:params:oauth:token-type:jwt",
      },
    })
    await refused(pending, errors.OAuthErrorResponse)
  })
})

if (!hasChromium) {
  test("cannot see the authorization page without a browser", (context) => context.skip())
} else {
  describe("a user with a browser", () => {
    let browser: Browser
    let app: http.Server
    let callbacks: URL[] = []

    beforeAll(async () => {
      browser = await launchChromium()
      app = http.createServer((request, response) => {
        const url = new URL(request.url ?? "/", "http://localhost")
        callbacks.push(url)
        // Many apps redirect a returning user to their home, which may be another origin.
        if (url.searchParams.has("home")) {
          const { port } = app.address() as AddressInfo
          response.writeHead(302, { location: `http://localhost:${port}/home` }).end()
          return
        }
        response.writeHead(200, { "content-type": "text/html" }).end("<h1>Back in the app</h1>")
      })
      app.listen(0, "127.0.0.1")
      await once(app, "listening")
    })

    afterAll(async () => {
      await browser?.close()
      app?.close()
    })

    const callback = () => `http://127.0.0.1:${(app.address() as AddressInfo).port}/back`
    const answered = () => callbacks.find(({ pathname }) => pathname === "/back")?.searchParams

    async function open(limit?: number, callbackUrl = callback()) {
      callbacks = []
      const { oAuth } = openrouter("")
      const { codeChallenge, codeVerifier } = await oAuth.createSHA256CodeChallenge()
      const pending = { callbackUrl, codeChallenge, codeChallengeMethod: "S256" as const }
      const url = await oAuth.createAuthorizationUrl({ ...pending, ...(limit !== undefined && { limit }) })
      const page = await (await browser.newContext()).newPage()
      await page.goto(url)
      return { page, codeVerifier }
    }

    test("signs in, sees what the app will get, allows it, and the app has a working key", async () => {
      const { page, codeVerifier } = await open(3)
      await page.getByLabel("Your API key").fill("sk-gw-v1-wrong")
      await page.getByRole("button", { name: "Sign in" }).click()
      expect(await page.getByRole("alert").textContent()).toContain("not valid")
      await page.getByLabel("Your API key").fill(organization.apiKey)
      await page.getByRole("button", { name: "Sign in" }).click()
      await page.getByRole("button", { name: "Allow" }).waitFor()
      expect(await page.textContent("main")).toContain("3 USD")
      expect(await page.content()).not.toContain(organization.apiKey)
      await page.getByRole("button", { name: "Allow" }).click()
      await page.getByText("Back in the app").waitFor()

      const code = answered()?.get("code") ?? ""
      const requestBody = { code, codeVerifier, codeChallengeMethod: "S256" as const }
      const { key } = await openrouter("").oAuth.exchangeAuthCodeForAPIKey({ requestBody })
      const completion = await openrouter(key).chat.send({
        chatRequest: { model: "sim/echo", messages: [{ role: "user", content: "Hello" }] },
      })
      expect(completion).toMatchObject({ choices: [{ finishReason: "stop" }] })
      await page.context().close()
    })

    test("is redirected by the app to another origin", async () => {
      const { page } = await open(undefined, `${callback()}?home=1`)
      await page.getByLabel("Your API key").fill(organization.apiKey)
      await page.getByRole("button", { name: "Sign in" }).click()
      await page.getByRole("button", { name: "Allow" }).click()
      await page.getByText("Back in the app").waitFor()
      expect(new URL(page.url()).hostname).toBe("localhost")
      expect(answered()?.get("code")).toEqual(expect.any(String))
      await page.context().close()
    })

    test("denies, and the app gets error=access_denied only", async () => {
      const { page } = await open()
      await page.getByLabel("Your API key").fill(organization.managementKey)
      await page.getByRole("button", { name: "Sign in" }).click()
      await page.getByRole("button", { name: "Deny" }).click()
      await page.getByText("Back in the app").waitFor()
      expect([...(answered() ?? [])]).toEqual([["error", "access_denied"]])
      await page.context().close()
    })

    test("does not see the page in a frame", async () => {
      const { page } = await open()
      const url = page.url()
      await page.goto(callback())
      const faults: string[] = []
      page.on("console", (message) => faults.push(message.text()))
      await page.evaluate((source) => {
        const frame = document.createElement("iframe")
        frame.src = source
        document.body.append(frame)
        return new Promise((resolve) => frame.addEventListener("load", resolve))
      }, url)
      expect(await page.frames()[1]?.content()).not.toContain("Your API key")
      await page.context().close()
    })
  })
}
