import { readdirSync, readFileSync } from "node:fs"
import path from "node:path"
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare, type V4WorkerOptions } from "miniflare"
import { unstable_getMiniflareWorkerOptions as workerOptionsOf, unstable_splitSqlQuery as splitSql } from "wrangler"
import { ensureBuild } from "../../src/dev/build/build.ts"
import { root } from "../../src/dev/options.ts"
import { modulesOf } from "../../src/local/bundle-modules.ts"

/** `node test/bench/knee.ts`: throughput of one ledger object on this machine, by batch size. */

/** In the same runtime as the gateway, so that only the object and the calls to it are measured. */
const DRIVER = `
const draft = (id) => ({
  id, createdAt: Date.now(), requestId: "req-1", organizationId: "o", workspaceId: "w", keyHash: "k".repeat(64),
  apiType: "completions", requestedModel: "acme/chat", streamed: true, sessionId: null, appUrl: null, appTitle: null,
  userAgent: "driver", promptEstimate: 50,
})
const settled = (one) => ({
  ...one, model: "acme/chat", provider: "acme", upstreamId: "up-" + one.id, isByok: false,
  tokens: { prompt: 50, completion: 20, reasoning: 0, cachedRead: 0, cachedWrite: 0 }, tokensFrom: "upstream",
  costNano: 1000, byokCostNano: 0, finishReason: "stop", ending: "complete", status: 200, latencyMs: 200,
  generationMs: 800, serviceTier: null, attempts: [], heldNano: 3000,
})
const NOTHING = { settlements: [], registrations: [], renewals: [], leases: [] }
const hold = (one, lease) => ({
  draft: one, wanted: { leastNano: 3000, mostNano: 3000 }, chargesAccount: true, limits: [], estimateNano: 1000,
  ttlMs: 120000, ...(lease && { lease }),
})

export default {
  async fetch(request, env) {
    const { batch, count, inFlight } = await request.json()
    const stub = env.LEDGER.get(env.LEDGER.idFromName("knee-" + crypto.randomUUID()))
    await stub.credit("c", 1e15)
    const id = () => "gen-" + crypto.randomUUID()
    const leaseId = "lease-" + crypto.randomUUID()
    const first = draft(id())
    await stub.hold(hold(first, { id: leaseId, wantNano: 1e12, isHeld: false, estimateNano: 1e6, sequence: 1 }))
    let sequence = 1
    const one = async () => {
      if (batch > 0) {
        const settlements = Array.from({ length: batch }, () => ({ generation: settled(draft(id())), leaseId }))
        const leases = [{ id: leaseId, ttlMs: 120000, isReturned: false, estimateNano: 1e6, sequence: ++sequence }]
        const { charged } = await stub.report({ ...NOTHING, settlements, leases })
        if (charged.length !== batch) throw new Error("charged " + charged.length)
      } else {
        const { verdict } = await stub.hold(hold(draft(id())))
        if (!verdict.ok) throw new Error("refused")
      }
    }
    const startedAt = Date.now()
    let left = count
    await Promise.all(Array.from({ length: inFlight }, async () => {
      while (left-- > 0) await one()
    }))
    return Response.json({ ms: Date.now() - startedAt })
  },
}`

function migrations(): string[][] {
  const folder = path.join(root, "d1-migrations")
  return readdirSync(folder)
    .toSorted()
    .map((file) => splitSql(readFileSync(path.join(folder, file), "utf8")))
}

async function main(): Promise<void> {
  await ensureBuild()
  const { workerOptions } = workerOptionsOf(path.join(root, "wrangler.toml"), "production")
  const { modulesRules: _, assets: __, ...rest } = workerOptions
  const options: Partial<V4WorkerOptions> = rest
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      cf: false,
      log: new Log(LogLevel.NONE),
      handleStructuredLogs: () => undefined,
      workers: [
        {
          name: "driver",
          modules: true,
          script: DRIVER,
          ...(options.compatibilityDate && { compatibilityDate: options.compatibilityDate }),
          durableObjects: { LEDGER: { className: "Ledger", scriptName: "gateway", useSQLite: true } },
        },
        {
          ...options,
          name: "gateway",
          ...modulesOf(path.join(root, "dist/gateway/index.js")),
          bindings: {
            MASTER_KEY: Buffer.alloc(32, 7).toString("base64"),
            BOOTSTRAP_MANAGEMENT_KEY: "sk-gw-boot-of-the-scale-run-0123456789",
          },
        },
      ],
    }),
  )
  try {
    await miniflare.ready
    const database = await miniflare.getD1Database("DB", "gateway")
    for (const statements of migrations()) {
      await database.batch(statements.map((statement) => database.prepare(statement)))
    }
    for (const { batch, count } of [
      { batch: 0, count: 500 },
      { batch: 0, count: 5_000 },
      { batch: 1, count: 4_000 },
      { batch: 4, count: 3_000 },
      { batch: 15, count: 1_500 },
      { batch: 100, count: 300 },
    ]) {
      const response = await miniflare.dispatchFetch("http://driver/", {
        method: "POST",
        body: JSON.stringify({ batch, count, inFlight: 32 }),
      })
      if (!response.ok) throw new Error(await response.text())
      const { ms } = (await response.json()) as { ms: number }
      const requests = (count / ms) * 1_000
      const what = batch === 0 ? "single holds" : `batches of ${batch}`
      console.log(`${what}: ${requests.toFixed(0)} requests a second, ${(requests * batch).toFixed(0)} settlements`)
    }
  } finally {
    await miniflare.dispose()
  }
}

await main()
