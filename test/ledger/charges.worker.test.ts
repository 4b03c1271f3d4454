import * as fc from "fast-check"
import { afterEach, describe, expect, test } from "vitest"
import { formatUsd, isNanoPrecise } from "../../src/money/money.ts"
import { redact } from "../../src/providers/responses/rejection.ts"
import { chunk, DONE, good, mockProvider, sse, usageChunk } from "../support/mock-provider.ts"
import { newKey, newWorkspace, operatorClient, readStream, expectJson, type Workspace } from "../support/world.ts"
import { runs } from "../support/runs.ts"

type Failure = { error: { code: number; message: string } }
type Record_ = Record<string, unknown>

let stop: () => void = () => {}
afterEach(() => stop())

async function recordOf(workspace: Workspace, response: Response): Promise<Record_> {
  const id = response.headers.get("x-generation-id") ?? ""
  return (await expectJson<{ data: Record_ }>(200, workspace.as.get(`/generation?id=${id}`))).data
}

describe("a provider that counts more than max_tokens allows", () => {
  const overcounting = () => {
    const pieces = [chunk({ content: "Hi" }), chunk({}, "stop"), usageChunk(10, 5_000_000), DONE]
    ;({ stop } = mockProvider(() => sse(pieces)))
  }

  test.each([true, false])("does not take a key over its limit (leased: %s)", async (isLeased) => {
    const workspace = await newWorkspace()
    const limit = isLeased ? 50 : 0.01
    const key = await newKey(workspace, { limit })
    overcounting()
    const options = { max_tokens: 16, stream: true }
    const { response } = await readStream(key.as.chat("played/m77", "Hi", options))
    const record = await recordOf(workspace, response)
    const { data } = await expectJson<{ data: { usage: number } }>(200, key.as.get("/key"))
    expect(data.usage).toBe(record["total_cost"])
    expect(data.usage).toBeLessThanOrEqual(0.01)
    expect(record["cost_overrun"]).toBeGreaterThan(0)
  })

  test("is listed in reconciliations", async () => {
    const workspace = await newWorkspace()
    overcounting()
    for (let call = 0; call < 2; call++) {
      await readStream(workspace.as.chat("played/m77", "Hi", { max_tokens: 16, stream: true }))
    }
    await workspace.ledger.balance()
    const body = { organization_id: workspace.organizationId }
    type Report = { data: { drifts: unknown[]; overruns: Record_[] }[] }
    const { data } = await expectJson<Report>(200, operatorClient.post("/reconciliations", body))
    expect(data[0]?.drifts).toEqual([])
    expect(data[0]?.overruns).toMatchObject([{ model: "played/m77", calls: 2 }])
    const { data: seen } = await expectJson<Report>(200, workspace.manage.get("/reconciliations"))
    expect(seen[0]?.overruns).toEqual(data[0]?.overruns)
  })
})

describe("the record of a generation", () => {
  test("has the preset, the router and the external user", async () => {
    const workspace = await newWorkspace()
    type Made = { data: { id: string } }
    const preset = await expectJson<Made>(
      200,
      workspace.manage.post("/presets/short/chat/completions", { model: "sim/echo", max_tokens: 20, messages: [] }),
    )
    const named = await workspace.as.chat("@preset/short", "Hi", { user: "user-7" })
    expect(await recordOf(workspace, named)).toMatchObject({ preset_id: preset.data.id, external_user: "user-7" })
    const routed = await workspace.as.chat("openrouter/auto", "Hi", {
      plugins: [{ id: "auto-router", allowed_models: ["sim/*"] }],
    })
    expect(await recordOf(workspace, routed)).toMatchObject({ router: "openrouter/auto", preset_id: null })
    const key = await newKey(workspace, { external: { user: "partner-user" } })
    const plain = await key.as.chat("sim/echo", "Hi")
    expect(await recordOf(workspace, plain)).toMatchObject({ external_user: "partner-user", router: null })
  })
})

describe("amounts", () => {
  test("are written in fixed notation", () => {
    expect([0, 1, 100, 1_500_000_000, -20, 3_000_000_000].map(formatUsd)).toEqual([
      "0",
      "0.000000001",
      "0.0000001",
      "1.5",
      "-0.00000002",
      "3",
    ])
    fc.assert(
      fc.property(fc.maxSafeInteger(), (nano) => {
        const text = formatUsd(nano)
        expect(text).toMatch(/^-?\d+(\.\d{0,8}[1-9])?$/)
        const [integral = "", fraction = ""] = text.replace("-", "").split(".")
        expect(BigInt(integral + fraction.padEnd(9, "0"))).toBe(BigInt(Math.abs(nano)))
      }),
    )
  })

  test("in a 402 have no exponents and no need of zero", async () => {
    const workspace = await newWorkspace()
    const { as } = await newKey(workspace, { limit: 0.0000001 })
    const refused = await expectJson<Failure>(402, as.chat("sim/echo", "Hi"))
    expect(refused.error.message).toContain("0.0000001 USD")
    expect(refused.error.message).not.toMatch(/\de-\d|up to 0 USD/)
  })

  test.each([0.0000000001, 0.0000000015, 1.0000000001])(
    "with more than nine decimal places return 400: %s",
    async (limit) => {
      const workspace = await newWorkspace()
      const { hash } = await newKey(workspace)
      const responses = [
        workspace.manage.post("/keys", { name: "fine", limit }),
        workspace.manage.patch(`/keys/${hash}`, { limit }),
        workspace.manage.put("/workspaces/default/budgets/daily", { limit_usd: limit }),
        workspace.manage.post("/guardrails", { name: "Fine", limit_usd: limit, reset_interval: "daily" }),
        workspace.manage.post("/auth/keys/code", { callback_url: "https://app.example/", limit }),
        operatorClient.post("/credits", { id: "fine", amount_usd: limit }),
      ]
      for (const one of responses)
        expect((await expectJson<Failure>(400, one)).error.message).toContain("9 decimal places")
    },
  )

  test("with rounding errors of doubles are accepted", async () => {
    expect([0.1 + 0.2, 0.7 * 3, 1e-9, 0, 999_999.999999999].map(isNanoPrecise)).not.toContain(false)
    await newKey(await newWorkspace(), { limit: 0.1 + 0.2 })
  })
})

test("concurrently set budgets decrease from the longest window to the shortest", async () => {
  const orders = { lifetime: 0, monthly: 1, weekly: 2, daily: 3 }
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.constantFrom("lifetime", "monthly", "weekly", "daily"), fc.integer({ min: 1, max: 9 })), {
        minLength: 2,
        maxLength: 8,
      }),
      async (puts) => {
        const workspace = await newWorkspace()
        const answers = await Promise.all(
          puts.map(([interval, usd]) =>
            workspace.manage.put(`/workspaces/default/budgets/${interval}`, { limit_usd: usd }),
          ),
        )
        for (const answer of answers) expect([200, 400, 409]).toContain(answer.status)
        type List = { data: { limit_usd: number; reset_interval: "daily" | "weekly" | "monthly" | null }[] }
        const { data } = await expectJson<List>(200, workspace.manage.get("/workspaces/default/budgets"))
        const inOrder = data.toSorted(
          (one, other) => orders[one.reset_interval ?? "lifetime"] - orders[other.reset_interval ?? "lifetime"],
        )
        for (const [at, { limit_usd: limit }] of inOrder.entries()) {
          if (at > 0) expect(limit).toBeLessThan(inOrder[at - 1]?.limit_usd ?? 0)
        }
      },
    ),
    { numRuns: runs(0.25) },
  )
})

test("a truncated error of a provider does not end in a part of a key", async () => {
  const apiKey = "secret-of-the-provider-0123456789"
  for (let at = 1_950; at < 2_010; at++) {
    const text = redact(`${"x".repeat(at)}${apiKey} and more`, { name: "P", apiKey })
    for (let length = 4; length <= apiKey.length; length++) expect(text).not.toContain(apiKey.slice(0, length))
  }
  const workspace = await newWorkspace()
  const longText = `${"y".repeat(1_990)} Bearer sk-verysecretkey0123456789`
  ;({ stop } = mockProvider(() => sse([`data: ${JSON.stringify({ error: { message: longText, code: 400 } })}\n\n`])))
  const answer = await workspace.as.chat("played/m77", "Hi", { stream: true })
  expect(await answer.text()).not.toContain("sk-very")
})

test("a call within its bound has no overrun", async () => {
  const workspace = await newWorkspace()
  ;({ stop } = mockProvider(() => sse(good("Hello there"))))
  const { response } = await readStream(workspace.as.chat("played/m77", "Hi", { max_tokens: 16, stream: true }))
  expect(await recordOf(workspace, response)).toMatchObject({ cost_overrun: null })
})
