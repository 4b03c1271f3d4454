import { expect, test, vi } from "vitest"
import { toolCharger } from "../../src/inference/agent/charge-tool-run.ts"
import { runCalls } from "../../src/inference/agent/run-tools.ts"
import { GatewayError } from "../../src/errors/errors.ts"
import { newTally, type RequestedTool, type ToolDeps } from "../../src/server-tools/tool.ts"
import type { Deps, RequestMeta } from "../../src/inference/deps.ts"
import { keyScope } from "../../src/ledger/limits.ts"
import type { Caller } from "../../src/policy/call-policy.ts"

const keyHash = "k"
const limit = {
  limitNano: 1,
  limitReset: null,
  limitIncrease: null,
  includeByokInLimit: false,
  dailyLimitNano: null,
  spentBeforeNano: 0,
}
const policy = { budgets: { includeByok: false, limits: [] }, guardrails: null, runLimits: [], destinations: [] }
const caller = { keyHash, ...limit, ...policy, ancestors: [], externalUser: null, internId: null }

test("a tool run over the limit is not executed, and the error does not mention max_tokens", async () => {
  const scope = keyScope(keyHash)
  const verdict = { ok: false, scope, interval: null, limitNano: 1, remainingNano: 1, leastNano: 5_000_000 }
  const deps = { ledger: { hold: () => Promise.resolve(verdict) }, timers: { holdTtlMs: 1_000 } }
  const charge = toolCharger(
    { messages: [{ role: "user", content: "Search" }], stream: false },
    { meta: { sessionId: null } as RequestMeta, caller: caller as unknown as Caller },
    deps as unknown as Deps,
  )
  const run = vi.fn(() => Promise.resolve({ costNano: 0 }))
  const refused = charge({ name: "web_search", provider: "Exa", priceNano: 5_000_000 }, run)
  await expect(refused).rejects.toThrow(/Raise the limit\.$/)
  expect(run).not.toHaveBeenCalled()
})

test("a paid tool run is not executed for a key of the free tier", async () => {
  const hold = vi.fn()
  const charge = toolCharger(
    { messages: [{ role: "user", content: "Search" }], stream: false },
    { meta: { sessionId: null } as RequestMeta, caller: { ...caller, kind: "free_tier" } as unknown as Caller },
    { ledger: { hold }, timers: { holdTtlMs: 1_000 } } as unknown as Deps,
  )
  const run = vi.fn(() => Promise.resolve({ costNano: 0 }))
  await expect(charge({ name: "web_search", provider: "Exa", priceNano: 5_000_000 }, run)).rejects.toThrow(/free tier/)
  expect(hold).not.toHaveBeenCalled()
  expect(run).not.toHaveBeenCalled()
})

test.each([
  ["key_limit", "payment_required"],
  ["workspace_budget", "forbidden"],
  ["guardrail_budget", "forbidden"],
] as const)("a tool run over a limit is a failed tool for the model, which continues: %s", async (reason, code) => {
  const run = vi.fn<RequestedTool["run"]>()
  const definition = { name: "web_search", description: "", parameters: {} }
  const tool: Partial<RequestedTool> = { kind: "web_search", definition, run }
  const call = { id: "c1", type: "function" as const, function: { name: "web_search", arguments: "{}" } }
  const [result] = await runCalls([call], {
    tools: [tool as RequestedTool],
    deps: { settings: {} } as ToolDeps,
    tally: newTally(),
    chargeToolRun: () => Promise.reject(new GatewayError(code, "Nothing is left.", { metadata: { reason } })),
  })
  expect(run).not.toHaveBeenCalled()
  expect(result?.outcome).toMatchObject({ isError: true, costNano: 0 })
  expect(result?.outcome.content).toContain("costs more than the remaining budget")
})
