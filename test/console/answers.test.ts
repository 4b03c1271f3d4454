import { beforeAll, describe, expect, test } from "vitest"
import { api, chat, hasChromium, newOrganization, type Organization, origin, visiting } from "./browser.ts"

let acme: Organization
beforeAll(async () => {
  acme = await newOrganization()
})

async function send<T>(method: string, path: string, body?: object): Promise<T> {
  const response = await fetch(`${api}${path}`, {
    method,
    headers: { authorization: `Bearer ${acme.managementKey}`, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  expect(response.status, `${method} ${path}: ${text}`).toBeLessThan(300)
  return JSON.parse(text) as T
}

type Made = { data: { id: string } }
type MadeKey = { key: string; data: { hash: string } }

async function workspaceId(): Promise<string> {
  const { data } = await send<{ data: { id: string }[] }>("GET", "/workspaces")
  return data[0]?.id ?? ""
}

async function logContent(): Promise<void> {
  await send("PATCH", `/workspaces/${await workspaceId()}`, { is_observability_io_logging_enabled: true })
}

const ask = async (key: string, content: string, body: object = {}) => {
  const response = await chat(key, { model: "sim/echo", messages: [{ role: "user", content }], ...body })
  expect(response.status, await response.text()).toBe(200)
}

describe.runIf(hasChromium)("answers", () => {
  test("a key that was disabled by mistake is enabled again with Undo", async () => {
    const { data: key } = await send<MadeKey>("POST", "/keys", { name: "mistaken" })
    const isDisabled = async () =>
      (await send<{ data: { disabled: boolean } }>("GET", `/keys/${key.hash}`)).data.disabled
    await visiting(acme.managementKey, async (page) => {
      await page.goto(`${origin}/keys/${key.hash}`)
      await page.getByRole("button", { name: "Disable", exact: true }).click()
      await page.getByRole("dialog").getByRole("button", { name: "Disable" }).click()
      await expect.poll(isDisabled).toBe(true)
      await page.getByRole("button", { name: "Undo" }).click()
      await expect.poll(isDisabled).toBe(false)
      await page.getByText("The key “mistaken” is enabled.").waitFor()
      await page.getByRole("button", { name: "Disable", exact: true }).waitFor()
    })
  })

  test("the list of keys says who disabled a key", async () => {
    const { data: key } = await send<MadeKey>("POST", "/keys", { name: "retired" })
    await send("PATCH", `/keys/${key.hash}`, { disabled: true })
    await visiting(acme.managementKey, async (page) => {
      await page.goto(`${origin}/keys?disabled=1`)
      await page
        .getByRole("row")
        .filter({ hasText: "retired" })
        .getByText(/^disabled by sk-gw-v1-/)
        .waitFor()
    })
  })

  test("the list of keys has the owner and the last day of use, and a key names its guardrails", async () => {
    const ada = { user_id: "ada", email: "ada@example.com", first_name: "Ada", last_name: "Lovelace" }
    await send("POST", "/organization/members", { ...ada, role: "org:member" })
    await send("PUT", `/workspaces/${await workspaceId()}/budgets/monthly`, { limit_usd: 20 })
    const used = await send<MadeKey>("POST", "/keys", { name: "studio", creator_user_id: "ada", limit: 2 })
    const rules = { name: "Careful", limit_usd: 5, reset_interval: "daily" }
    const { data: guardrail } = await send<Made>("POST", "/guardrails", rules)
    const base = `/guardrails/${guardrail.id}/assignments`
    await send("POST", `${base}/keys`, { key_hashes: [used.data.hash] })
    await send("POST", `${base}/members`, { member_user_ids: ["ada"] })
    await ask(used.key, "Hello")
    await visiting(acme.managementKey, async (page) => {
      await page.goto(`${origin}/keys`)
      const row = page.getByRole("row").filter({ hasText: "studio" })
      await row.getByRole("link", { name: "Ada Lovelace" }).waitFor()
      await expect
        .poll(async () => {
          await page.reload()
          await row.getByText(/today|not in/).waitFor()
          return row.textContent()
        })
        .toContain("today")
      await row.getByRole("link", { name: "studio" }).click()
      const ladder = page.getByRole("list", { name: "Limits" })
      await ladder.getByText("guardrail Careful of its member").waitFor()
      // Widest first: what many keys share before what one key has.
      const rungs = await ladder.getByRole("listitem").allTextContents()
      expect(rungs.map((text) => /^(balance|workspace|key limit|guardrail)/.exec(text)?.[0])).toEqual([
        "balance",
        "workspace",
        "key limit",
        "guardrail",
        "guardrail",
      ])
      await page.getByRole("region", { name: "Guardrails" }).getByRole("link", { name: "Careful" }).click()
      await page.getByRole("heading", { name: /Careful/ }).waitFor()
      await page.keyboard.press("Escape")
      await page.getByRole("heading", { name: "Guardrails", level: 1 }).waitFor()
    })
  })

  test("a lower limit of a key shows the calls that it would have refused, before it is saved", async () => {
    const { key, data } = await send<MadeKey>("POST", "/keys", { name: "spender" })
    await ask(key, "One")
    await ask(key, "Two")
    await expect
      .poll(async () => (await send<{ data: unknown[] }>("GET", `/calls?key=${data.hash}`)).data.length)
      .toBe(2)
    await visiting(acme.managementKey, async (page) => {
      await page.goto(`${origin}/keys/${data.hash}`)
      await page.getByRole("button", { name: "Edit", exact: true }).click()
      const dialog = page.getByRole("dialog")
      await dialog.getByLabel("Limit, USD").fill("0.000001")
      await dialog.getByLabel("Limit resets").selectOption("daily")
      await dialog.getByText("1 of the 2 calls of today would have been refused").waitFor()
      await dialog.getByLabel("Limit, USD").fill("5")
      await dialog.getByText(/^All 2 calls of today fit/).waitFor()
    })
  })

  test("the audit log names keys and resources, and shows a field before and after its change", async () => {
    const { data } = await send<MadeKey>("POST", "/keys", { name: "audited", limit: 2 })
    await send("PATCH", `/keys/${data.hash}`, { limit: 7 })
    await visiting(acme.managementKey, async (page) => {
      await page.goto(`${origin}/settings?tab=audit&action=api_key.update`)
      const row = page.getByRole("row").filter({ hasText: "audited" }).first()
      await row.getByRole("button", { name: "api_key.update" }).click()
      const changed = page.getByRole("dialog").getByRole("row").filter({ hasText: "limit" })
      await expect.poll(() => changed.getByRole("cell").allTextContents()).toEqual(["2", "7"])
      await page.keyboard.press("Escape")
      await row.getByRole("link", { name: "audited" }).click()
      await page.getByRole("heading", { name: /audited/ }).waitFor()
    })
  })

  test("a guardrail is tried on the calls of the last 24 hours before it is saved", async () => {
    await logContent()
    const { key } = await send<MadeKey>("POST", "/keys", { name: "mailer" })
    await ask(key, "Write to ada@example.com")
    await ask(key, "Nothing to find")
    const { data } = await send<Made>("POST", "/guardrails", { name: "Mail" })
    await visiting(acme.managementKey, async (page) => {
      await page.goto(`${origin}/guardrails/${data.id}`)
      await page.getByLabel("Email addresses").selectOption("block")
      const history = page.getByRole("region", { name: "Calls of the last 24 hours" })
      await expect
        .poll(async () => {
          await history.getByRole("button", { name: "Try on calls" }).click()
          await history.getByText(/logged content|No calls/).waitFor()
          return history.textContent()
        })
        .toContain("1 blocked")
      await history.getByRole("list", { name: "Affected calls" }).getByText("email").waitFor()
      await page.getByLabel("Email addresses").selectOption("off")
      await history.getByText("The rules have changed since.").waitFor()
    })
  })

  test("a call shows what its guardrails found in its text", async () => {
    await logContent()
    const { key, data } = await send<MadeKey>("POST", "/keys", { name: "phone" })
    const detectors = [
      { slug: "phone", action: "flag" },
      { slug: "email", action: "redact" },
    ]
    const made = await send<Made>("POST", "/guardrails", { name: "Contacts", content_filter_builtins: detectors })
    await send("POST", `/guardrails/${made.data.id}/assignments/keys`, { key_hashes: [data.hash] })
    await ask(key, "Call +49 30 901820 or write to ada@example.com")
    type Calls = { data: { id: string; outcome: string }[] }
    const id = await expect
      .poll(async () => (await send<Calls>("GET", `/calls?key=${data.hash}`)).data[0]?.id)
      .toBeDefined()
      .then(async () => (await send<Calls>("GET", `/calls?key=${data.hash}`)).data[0]?.id)
    await visiting(acme.managementKey, async (page) => {
      await page.goto(`${origin}/calls/${id}`)
      const marks = page.getByRole("complementary", { name: "Call" }).locator("mark")
      await expect.poll(() => marks.count()).toBe(2)
      expect(await marks.nth(0).textContent()).toBe("+49 30 901820")
      expect(await marks.nth(1).textContent()).toBe("[EMAIL]")
      expect(await marks.nth(0).getAttribute("title")).toBe("phone: flag")
    })
  })

  test("a preset has a link to its calls of today", async () => {
    const preset = { model: "sim/echo", temperature: 0.2 }
    await send("POST", "/presets/support/chat/completions", preset)
    const { key } = await send<MadeKey>("POST", "/keys", { name: "helpdesk" })
    await ask(key, "With the preset", { model: "@preset/support" })
    await ask(key, "Without it")
    await visiting(acme.managementKey, async (page) => {
      await page.goto(`${origin}/presets/support`)
      await expect
        .poll(async () => {
          await page.reload()
          return page.getByRole("link", { name: /calls? today/ }).textContent()
        })
        .toBe("1 call today")
      await page.getByRole("link", { name: "1 call today" }).click()
      await page.getByText("1 calls, all of the range").waitFor()
      await page.getByRole("button", { name: /preset is support/ }).waitFor()
    })
  })

  test("an open question of an intern is on the overview, in the list, on its page and in the bar of a phone", async () => {
    type Intern = { id: string }
    const intern = await send<Intern>("POST", "/interns", { name: "scout", model: "sim/tool-call" })
    const messages = [{ role: "user", content: "echo from elsewhere" }]
    const response = await fetch(`${api}/interns/${intern.id}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${acme.managementKey}`, "content-type": "application/json" },
      body: JSON.stringify({ stream: true, approval_mode: "manual", messages }),
    })
    await response.text()
    await visiting(
      acme.managementKey,
      async (page) => {
        await page.goto(origin)
        const bar = page.getByRole("navigation", { name: "Console, short" })
        await bar
          .getByRole("link", { name: /Interns/ })
          .getByText("1", { exact: true })
          .waitFor()
      },
      { width: 390, height: 844 },
    )
    await visiting(acme.managementKey, async (page) => {
      await page.goto(origin)
      const questions = page.getByRole("region", { name: "Open questions" })
      await questions.getByText("echo from elsewhere").waitFor()
      await questions.getByText(/\d:\d\d left to answer/).waitFor()
      await page.goto(`${origin}/interns`)
      const row = page.getByRole("row").filter({ hasText: "scout" })
      await row.getByRole("link", { name: /asks: echo from elsewhere/ }).waitFor()
      await row.getByText("in the gateway").waitFor()
      await row.getByRole("link", { name: "scout" }).click()
      await page.getByText("It asks:").waitFor()
      await page.getByRole("link", { name: "Answer" }).click()
      await page.getByRole("region", { name: "Question of the intern" }).waitFor()
      await expect.poll(() => page.getByText("It asks:").count()).toBe(0)
      await page.keyboard.press("3")
      await expect.poll(() => page.getByRole("region", { name: "Question of the intern" }).count()).toBe(0)
    })
  })

  test("models are filtered by price and region, in the URL", async () => {
    await visiting(acme.managementKey, async (page) => {
      await page.goto(`${origin}/models`)
      await page.getByRole("link", { name: "sim/echo", exact: true }).waitFor()
      await page.getByLabel("Price").selectOption({ label: "Free" })
      await expect.poll(() => page.getByRole("link", { name: "sim/echo", exact: true }).count()).toBe(0)
      await page.getByRole("link", { name: "sim/echo:free", exact: true }).waitFor()
      expect(page.url()).toContain("price=0")
      await page.getByRole("button", { name: "Clear" }).click()
      await page.getByLabel("Region").selectOption({ label: "Europe" })
      await expect.poll(() => page.url()).toContain("region=eu")
      await page.reload()
      expect(await page.getByLabel("Region").inputValue()).toBe("eu")
    })
  })

  test.each([390, 720, 1024])("the overview and the keys fit into %i pixels", async (width) => {
    await visiting(
      acme.managementKey,
      async (page) => {
        const widths = (selector: string) =>
          page.locator(selector).evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)
        await page.goto(`${origin}/?range=24h`)
        await page.getByRole("table", { name: "Spend by model" }).waitFor()
        expect(await widths("main .content")).toBe(0)
        await page.goto(`${origin}/keys`)
        await page.getByRole("table", { name: "Keys" }).waitFor()
        // A screen between a phone and a tablet scrolls the table alone.
        if (width !== 720) expect(await widths("main .scroller")).toBe(0)
      },
      { width },
    )
  })

  test("the palette opens guardrails, presets, interns, members, workspaces and providers", async () => {
    await visiting(acme.managementKey, async (page) => {
      await page.goto(origin)
      await page.getByRole("heading", { level: 1 }).waitFor()
      for (const [text, path] of [
        ["guardrail careful", /\/guardrails\//],
        ["preset support", /\/presets\/support$/],
        ["intern scout", /\/interns\//],
        ["member ada", /\/team\?member=ada$/],
        ["workspace default", /\/team\?tab=workspaces&workspace=/],
        ["provider embedded", /\/providers\/embedded$/],
      ] as const) {
        await page.keyboard.press("Control+k")
        await page.getByRole("combobox", { name: /^Search pages/ }).fill(text)
        await page.getByRole("listbox", { name: "Results" }).getByRole("option").first().waitFor()
        await page.keyboard.press("Enter")
        await expect.poll(() => page.url()).toMatch(path)
      }
    })
  })

  test("the overview says what changed most and why, and its figures open the calls of the same range", async () => {
    await visiting(acme.managementKey, async (page) => {
      await page.route("**/analytics/query", async (route) => {
        const query = route.request().postDataJSON() as { dimensions?: string[]; time_range: { start: string } }
        const isNow = Date.parse(query.time_range.start) > Date.now() - 36 * 3_600_000
        const row = {
          usage: isNow ? 3 : 1,
          requests: isNow ? 300 : 100,
          total_tokens: isNow ? 3000 : 1000,
          failed_requests: 0,
        }
        const data = query.dimensions?.[0] === "model" ? [{ ...row, model: "sim/echo" }] : query.dimensions ? [] : [row]
        await route.fulfill({ json: { data: { data, metadata: { truncated: false } } } })
      })
      await page.goto(`${origin}/?range=24h`)
      const changed = page.getByRole("region", { name: "What changed most" })
      await expect
        .poll(() => changed.getByRole("listitem").allTextContents())
        .toEqual(["sim/echo+$2.00more calls (× 3.0)"])
      await page.getByRole("link", { name: "300", exact: true }).first().click()
      await expect.poll(() => page.url()).toContain("/calls?range=24h")
    })
  })
})
