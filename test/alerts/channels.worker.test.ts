import { createMessageBatch } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { consumeQueue } from "../../src/app/queue.ts"
import type { BroadcastMessage } from "../../src/config/messages.ts"
import { keyScope, type Limit } from "../../src/ledger/limits.ts"
import { newReceiver, mockReceivers, type Received } from "../observability/receiver.ts"
import { eventually } from "../support/eventually.ts"
import { expectJson, newKey, newWorkspace, type Workspace } from "../support/world.ts"
import { addChannel, alertsOf, type Channel, record, spend } from "./alerts.ts"
import { watchPolicyWrites } from "../support/policy-writes.ts"

watchPolicyWrites()

const USD = 1_000_000_000

beforeEach(() => mockReceivers())
afterEach(() => void vi.restoreAllMocks())

/** Spends 60 % of a key's limit. */
async function alert(workspace: Workspace): Promise<void> {
  const { hash } = await newKey(workspace, { name: "a <b> & c" })
  const limit: Limit = { scope: keyScope(hash), limitNano: 10 * USD, interval: "monthly", includeByok: false }
  await spend(workspace, 6 * USD, [limit])
  await record(workspace)
}

const MESSAGE = 'Key "a <b> & c" of workspace "Default" reached 50 % of its monthly limit: 6 of 10 USD are spent.'

const first = (got: readonly Received[]) =>
  eventually(() => {
    expect(got.length).toBeGreaterThan(0)
    return got[0] as Received
  })

test("a webhook gets a signed event once, and the alert is marked as delivered", async () => {
  const [workspace, receiver] = [await newWorkspace(1_000), newReceiver()]
  const channel = await addChannel(workspace, { type: "webhook", config: { url: receiver.url } })
  await alert(workspace)
  const { body, headers } = await first(receiver.got)
  const [listed] = await eventually(async () => {
    const alerts = await alertsOf(workspace)
    expect(alerts[0]?.deliveries[0]?.state).toBe("delivered")
    return alerts
  })
  expect(JSON.parse(body)).toEqual({
    type: "alert.limit_threshold",
    timestamp: expect.any(String),
    data: expect.objectContaining({ id: listed?.id, message: MESSAGE, data: listed?.data }),
  })
  const secret = String(channel.config["signing_secret"]).slice("whsec_".length)
  const bytes = Uint8Array.from(atob(secret), (char) => char.charCodeAt(0))
  const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"])
  const signed = `${headers.get("webhook-id")}.${headers.get("webhook-timestamp")}.${body}`
  const mac = new Uint8Array(await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(signed)))
  expect(headers.get("webhook-signature")).toBe(`v1,${btoa(String.fromCharCode(...mac))}`)
  expect(listed?.deliveries).toEqual([{ channel_id: channel.id, state: "delivered", attempts: 1, last_error: null }])
  expect(receiver.got).toHaveLength(1)
})

test("Slack gets the message with its markup escaped", async () => {
  const [workspace, receiver] = [await newWorkspace(1_000), newReceiver()]
  await addChannel(workspace, { type: "slack", config: { url: receiver.url } })
  await alert(workspace)
  const { body } = await first(receiver.got)
  expect(JSON.parse(body)).toEqual({ text: MESSAGE.replace("a <b> & c", "a &lt;b&gt; &amp; c") })
})

const MAIL = { api_key: "mailer-key-0123456789", from: "gateway@example.com", to: ["a@example.com", "b@example.com"] }
const MAILERS = [
  ["resend", "/emails", { authorization: `Bearer ${MAIL.api_key}` }],
  ["postmark", "/email", { "x-postmark-server-token": MAIL.api_key }],
  ["sendgrid", "/v3/mail/send", { authorization: `Bearer ${MAIL.api_key}` }],
  ["mailgun", "/v3/mg.example.com/messages", { authorization: `Basic ${btoa(`api:${MAIL.api_key}`)}` }],
] as const

test.each(MAILERS)("%s gets an e-mail to every recipient", async (provider, path, expected) => {
  const [workspace, receiver] = [await newWorkspace(1_000), newReceiver()]
  const config = {
    ...MAIL,
    provider,
    base_url: `${receiver.url}/`,
    ...(provider === "mailgun" && { domain: "mg.example.com" }),
  }
  await addChannel(workspace, { type: "email", config })
  await alert(workspace)
  const { url, headers, body } = await first(receiver.got)
  expect(url.pathname.endsWith(path)).toBe(true)
  expect(Object.fromEntries(headers)).toMatchObject(expected)
  const text = provider === "mailgun" ? decodeURIComponent(body.replaceAll("+", " ")) : body.replaceAll('\\"', '"')
  expect(text).toContain(`Gateway alert: ${MESSAGE}`)
  for (const to of MAIL.to) expect(text).toContain(to)
})

test("the key of a mailer is not sent to another mailer or another host", async () => {
  const [workspace, receiver] = [await newWorkspace(1_000), newReceiver()]
  const config = { ...MAIL, provider: "resend", base_url: receiver.url }
  const { id } = await addChannel(workspace, { type: "email", config })
  const { api_key: _, ...open } = config
  for (const change of [{ base_url: "https://attacker.example.com" }, { provider: "postmark" }]) {
    const body = { config: { ...open, ...change, api_key: "..." } }
    const answer = workspace.manage.patch(`/alerts/channels/${id}`, body)
    const { error } = await expectJson<{ error: { message: string } }>(400, answer)
    expect(error.message).toContain("config.api_key")
  }
  const moved = { config: { ...config, base_url: "https://other.example.com" } }
  await expectJson(200, workspace.manage.patch(`/alerts/channels/${id}`, moved))
})

test("secrets are masked in every response, and a mask sent back keeps the secret", async () => {
  const [workspace, receiver] = [await newWorkspace(1_000), newReceiver()]
  const created = await addChannel(workspace, {
    type: "email",
    config: { ...MAIL, provider: "resend", base_url: receiver.url },
  })
  expect(JSON.stringify(created)).not.toContain(MAIL.api_key)
  const path = `/alerts/channels/${created.id}`
  const changed = { name: "Theirs", config: { ...created.config, to: ["c@example.com"] }, kinds: ["limit_threshold"] }
  const { data } = await expectJson<{ data: Channel }>(200, workspace.manage.patch(path, changed))
  expect(data).toMatchObject({
    name: "Theirs",
    kinds: ["limit_threshold"],
    config: { api_key: "...", to: ["c@example.com"] },
  })
  expect(JSON.stringify(await expectJson(200, workspace.manage.get("/alerts/channels")))).not.toContain(MAIL.api_key)
  expect(await expectJson(200, workspace.manage.post(`${path}/test`, {}))).toEqual({
    data: { ok: true, status: 200, message: "the receiver returned 200" },
  })
  expect(receiver.got[0]?.headers.get("authorization")).toBe(`Bearer ${MAIL.api_key}`)
  expect(receiver.got[0]?.body).toContain("c@example.com")
  await expectJson(200, workspace.manage.delete(path))
  await expectJson(404, workspace.manage.get(path))
})

test("a channel gets alerts of its kinds and workspaces only, and none while it is disabled", async () => {
  const workspace = await newWorkspace(1_000)
  const { data } = await expectJson<{ data: { id: string } }>(
    201,
    workspace.manage.post("/workspaces", { name: "B", slug: "b" }),
  )
  const receivers = Array.from({ length: 5 }, () => newReceiver())
  const [ofTeam, other, everywhere, refusals, off] = receivers
  const add = (receiver: typeof ofTeam, more: object) =>
    addChannel(workspace, { type: "slack", config: { url: receiver?.url }, ...more })
  await add(ofTeam, {})
  await add(other, { workspace_id: data.id })
  await add(everywhere, { workspace_id: data.id, all_workspaces: true })
  await add(refusals, { kinds: ["limit_refused"] })
  await add(off, { enabled: false })
  await alert(workspace)
  await first(ofTeam?.got ?? [])
  await first(everywhere?.got ?? [])
  const [listed] = await alertsOf(workspace)
  expect(listed?.deliveries).toHaveLength(2)
  expect([other, refusals, off].map((receiver) => receiver?.got.length)).toEqual([0, 0, 0])
})

test("a failed delivery is retried, and dropped after a day", async () => {
  const [workspace, receiver] = [
    await newWorkspace(1_000),
    newReceiver(() => new Response("secret words", { status: 500 })),
  ]
  const channel = await addChannel(workspace, { type: "slack", config: { url: receiver.url } })
  await alert(workspace)
  await first(receiver.got)
  const deliveries = async () => (await alertsOf(workspace))[0]?.deliveries[0]
  await eventually(async () => expect((await deliveries())?.attempts).toBeGreaterThan(0))
  expect(await deliveries()).toMatchObject({ state: "pending", last_error: "the receiver returned 500" })
  const id = (await alertsOf(workspace))[0]?.id ?? ""
  const body: BroadcastMessage = {
    kind: "alert",
    organizationId: workspace.organizationId,
    alertId: id,
    channelId: channel.id,
  }
  const consume = async () => {
    const batch = createMessageBatch<BroadcastMessage>("gateway-broadcast", [
      { id: "m", timestamp: new Date(), attempts: 1, body },
    ])
    await consumeQueue(batch, env)
  }
  vi.useFakeTimers({ now: Date.now() + 25 * 3_600_000, toFake: ["Date"] })
  await consume().finally(() => vi.useRealTimers())
  expect(await deliveries()).toMatchObject({ state: "failed" })
  const count = receiver.got.length
  await consume()
  expect(receiver.got.length).toBe(count)
  const { data } = await expectJson<{ data: Channel }>(200, workspace.manage.get(`/alerts/channels/${channel.id}`))
  expect(data.last_error).toBe("the receiver returned 500")
})

test.each([
  [{ type: "slack", config: {} }, "config.url"],
  [{ type: "slack", config: { url: "http://10.0.0.1/x" } }, "PRIVATE_HOSTS"],
  [{ type: "webhook", config: { url: "https://example.com", secret: 1 } }, "config"],
  [{ type: "email", config: { ...MAIL, provider: "mailgun" } }, "config.domain"],
  [{ type: "email", config: { ...MAIL, provider: "smtp" } }, "config.provider"],
  [{ type: "slack", config: { url: "..." } }, "masked"],
  [{ type: "pager", config: {} }, "type"],
  [{ type: "slack", config: { url: "https://example.com" }, kinds: [] }, "kinds"],
])("a channel like %j is rejected with the invalid field", async (input, named) => {
  const workspace = await newWorkspace()
  const refused = await expectJson<{ error: { message: string } }>(
    400,
    workspace.manage.post("/alerts/channels", { name: "x", ...input }),
  )
  expect(refused.error.message).toContain(named)
})

test("channels are listed for the organization, or for one of its workspaces", async () => {
  const workspace = await newWorkspace()
  const other = await expectJson<{ data: { id: string } }>(
    201,
    workspace.manage.post("/workspaces", { name: "Other", slug: "other" }),
  )
  const config = { url: "https://hooks.example.com/a" }
  const here = await addChannel(workspace, { type: "slack", config, all_workspaces: true })
  const there = await addChannel(workspace, { type: "slack", config, workspace_id: other.data.id })
  const listed = async (query: string) => {
    type Page = { data: Channel[]; total_count: number }
    const page = await expectJson<Page>(200, workspace.manage.get(`/alerts/channels${query}`))
    expect(page.total_count).toBe(page.data.length)
    return page.data.map(({ id }) => id)
  }
  expect(await listed("")).toEqual([there.id, here.id])
  expect(await listed(`?workspace_id=${workspace.workspaceId}`)).toEqual([here.id])
  expect(await listed(`?workspace_id=${other.data.id}`)).toEqual([there.id])
  const stranger = await newWorkspace()
  for (const id of [stranger.workspaceId, "01900000-0000-7000-8000-000000000000"]) {
    await expectJson(404, workspace.manage.get(`/alerts/channels?workspace_id=${id}`))
  }
  await expectJson(400, workspace.manage.get("/alerts/channels?workspace_id=nope"))
})

test("a normal key cannot read alerts or change channels", async () => {
  const workspace = await newWorkspace()
  await expectJson(403, workspace.as.get("/alerts"))
  await expectJson(403, workspace.as.get("/alerts/channels"))
  await expectJson(403, workspace.as.patch("/alerts/settings", { thresholds: [1] }))
})

test("the credentials in a channel's URL are masked, and a change with the masked URL keeps them", async () => {
  const [workspace, receiver] = [await newWorkspace(1_000), newReceiver()]
  const url = `${receiver.url}?token=0123456789abcdefghijklmn`
  const channel = await addChannel(workspace, { type: "webhook", config: { url } })
  expect(channel.config["url"]).toBe(`${receiver.url}?token=0123...klmn`)
  const path = `/alerts/channels/${channel.id}`
  await expectJson(200, workspace.manage.patch(path, { config: { url: channel.config["url"] } }))
  const changed = workspace.manage.patch(path, { config: { url: `${receiver.url}/other?token=0123...klmn` } })
  const refused = await expectJson<{ error: { message: string } }>(400, changed)
  expect(refused.error.message).toContain("config.url: is masked")
  await expectJson(200, workspace.manage.post(`${path}/test`, undefined))
  expect((await first(receiver.got)).url.href).toBe(url)
})
