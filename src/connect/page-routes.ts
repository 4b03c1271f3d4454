import { type Context, Hono } from "hono"
import type { App } from "../access/app.ts"
import { asGatewayError, GatewayError } from "../errors/errors.ts"
import { BASE_PATH } from "../http/paths.ts"
import { showPage } from "../http/page.ts"
import { readAtMost } from "../support/bytes.ts"
import { logError } from "../support/log.ts"
import { type ClientName, CLIENTS, setupOf } from "./clients.ts"
import { linkPage, rejectionPage, settingsPage } from "./page.ts"
import { redeemLink } from "./redeem.ts"
import { ConnectToken } from "./schemas.ts"

const MAX_FORM_BYTES = 4_096

/** The browser page of a link. GET changes nothing, so that link previews do not use it. */
export const connectPage = new Hono<App>()

connectPage.get("/:client", (c) => {
  const client = clientOf(c)
  return showPage(c, 200, (nonce) => linkPage(nonce, client), { hasScript: true })
})

connectPage.post("/:client", async (c) => {
  clientOf(c)
  const { client, api_key: key, model, models } = await redeemLink(c, await tokenOf(c))
  const setup = setupOf(client, { home: "~", base: `${originSeen(c)}${BASE_PATH}`, key, model, models })
  const steps = client === "cursor" ? [`The gateway's key: ${key}`, ...setup.steps] : setup.steps
  return showPage(c, 200, (nonce) => settingsPage(nonce, client, { files: setup.files, steps }))
})

connectPage.onError((thrown, c) => {
  const error = asGatewayError(thrown)
  if (error.code === "internal") logError(error.message, { requestId: c.var.requestId }, error.cause)
  return showPage(c, error.status, (nonce) => rejectionPage(nonce, error.message))
})

function clientOf(c: Context<App>): ClientName {
  const client = CLIENTS.find((name) => name === c.req.param("client"))
  if (!client)
    throw new GatewayError("not_found", `There is no client with this name. Links are for ${CLIENTS.join(", ")}.`)
  return client
}

async function tokenOf(c: Context<App>): Promise<string> {
  const { body } = c.req.raw
  const bytes = body && (await readAtMost(body, MAX_FORM_BYTES))
  const token = bytes && new URLSearchParams(new TextDecoder().decode(bytes)).get("token")
  const parsed = ConnectToken.safeParse(token)
  if (!parsed.success)
    throw new GatewayError("invalid_request", "Open the complete link, and submit the form of its page.")
  return parsed.data
}

/** The origin that the browser sees: a proxy that terminates TLS forwards the host but not the scheme. */
function originSeen(c: Context<App>): string {
  const { origin, host } = new URL(c.req.url)
  const seen = URL.parse(c.req.header("origin") ?? "")
  return seen?.host === host ? seen.origin : origin
}
