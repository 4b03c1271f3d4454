import { expect, test, vi } from "vitest"
import { toolCharger } from "../../src/inference/agent/charge-tool-run.ts"
import type { Deps, RequestMeta } from "../../src/inference/deps.ts"
import { keyScope } from "../../src/ledger/limits.ts"
import type { Caller } from "../../src/policy/call-policy.ts"

test("a tool run over the limit is not executed, and the error does not mention max_tokens", async () => {
  const keyHash = "k"
  const limit = { limitNano: 1, limitReset: null, includeByokInLimit: false, dailyLimitNano: null, spentBeforeNano: 0 }
  const policy = { budgets: { includeByok: false, limits: [] }, guardrails: null, runLimits: [], destinations: [] }
  const caller = { keyHash, ...limit, ...policy, ancestors: [], externalUser: null, internId: null }
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
