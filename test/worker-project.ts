import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import path from "node:path"
import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-pool-workers"
import { useMemoryDisk } from "./support/memory-disk.ts"
import { startScriptedProvider } from "./support/outbound.ts"
import { RATE_LIMIT } from "./support/rate-limit.ts"
import { REPLICA_MODELS } from "./support/replicas.ts"
import { bundled, bundledMain, bundledSetup, workerBundle, workerTests } from "./worker-bundle.ts"

const root = path.join(import.meta.dirname, "..")

/** The project's configuration, from a folder without a .dev.vars: no developer secret reaches a test. */
function configPath(): string {
  const folder = path.join(root, ".wrangler/test")
  const config = readFileSync(path.join(root, "wrangler.toml"), "utf8")
    .replace('main = "src/embedded/development.ts"', `main = "${bundledMain}"`)
    .replace(/^\[build\]\ncommand = .*\n/m, "")
    .replaceAll(/^simple = \{ limit = \d+,/gm, `simple = { limit = ${RATE_LIMIT},`)
    // Queues deliver immediately: no test waits for a batch.
    .replaceAll(/^max_batch_timeout = \d+$/gm, "max_batch_timeout = 0")
    // The console is built for the browser; its tests are in test/console.
    .replaceAll(/^\[(?:env\.production\.)?assets\]\n(?:[a-z_]+ = .+\n)+/gm, "")
    .replaceAll('migrations_dir = "d1-migrations"', `migrations_dir = "${path.join(root, "d1-migrations")}"`)
  mkdirSync(folder, { recursive: true })
  writeFileSync(path.join(folder, "wrangler.toml"), config)
  return path.join(folder, "wrangler.toml")
}

/** In workerd, against real D1, KV and Durable Objects, with the embedded upstream as a second Worker. */
export async function workerProject(common: object) {
  useMemoryDisk()
  const tests = workerTests()
  const providerPort = await startScriptedProvider()
  return {
    root,
    logLevel: "error" as const,
    plugins: [
      cloudflareTest({
        wrangler: { configPath: configPath() },
        miniflare: {
          bindings: {
            TEST_MIGRATIONS: await readD1Migrations(path.join(root, "d1-migrations")),
            MASTER_KEY: Buffer.alloc(32, 7).toString("base64"),
            BOOTSTRAP_MANAGEMENT_KEY: "sk-gw-boot-of-the-test-suite-0123456789",
            SEARXNG_BASE_URL: "http://search.test",
            CONTENT_CHECKS: JSON.stringify([
              { name: "guard", url: "http://guard.test/check", headers: { authorization: "Bearer guard-secret-0123" } },
              { name: "lenient", url: "http://lenient.test/check", if_unavailable: "allow", timeout_ms: 50 },
              {
                name: "moderation",
                url: "http://moderation.test/v1/moderations",
                format: "openai",
                parameters: { model: "omni" },
              },
              {
                name: "shield",
                url: "http://shield.test/v2/guard",
                format: "lakera",
                parameters: { project_id: "p1" },
              },
              { name: "generic", url: "http://generic.test/api", format: "litellm", parameters: { threshold: 0.5 } },
            ]),
            CUSTOM_PROVIDERS: JSON.stringify([
              {
                slug: "played",
                name: "Played",
                base_url: `http://127.0.0.1:${providerPort}/v1`,
                api_key: "played-provider-key-0123456789",
                models: Array.from({ length: 100 }, (_, index) => ({
                  id: `m${index}`,
                  prompt: "0.000001",
                  completion: "0.000002",
                })).concat([
                  { id: "unpriced" } as never,
                  {
                    id: "live",
                    output: ["realtime"],
                    prompt: "0.000004",
                    completion: "0.000016",
                    input_cache_read: "0.0000004",
                    audio: "0.000032",
                    input_audio_cache: "0.0000005",
                    audio_output: "0.000064",
                    context_length: 32_000,
                    max_completion_tokens: 4_096,
                  } as never,
                  { id: "flat", prompt: "0", completion: "0", request: "0.01" } as never,
                  {
                    id: "tiered",
                    prompt: "0.000001",
                    completion: "0.000002",
                    input_cache_read: "0.0000001",
                    overrides: [
                      { min_prompt_tokens: 10_000, prompt: "0.000002", completion: "0.000003" },
                      { service_tier: "priority", prompt: "0.00001", completion: "0.00002" },
                      { service_tier: "flex", prompt: "0.0000005", completion: "0.000001" },
                    ],
                  } as never,
                ]),
              },
              // Three providers of the same models; tests mock all of them.
              ...["a", "b", "c"].map((name) => ({
                slug: `replica-${name}`,
                base_url: `http://replica-${name}.test/v1`,
                api_key: `replica-${name}-provider-key-0123456789`,
                responses: name === "c",
                regions: name === "b" ? ["europe"] : [],
                // Many models: an isolate keeps endpoint health across tests.
                models: Array.from({ length: REPLICA_MODELS }, (_, index) => ({
                  id: `m${index}`,
                  model: `acme/chat-${index}`,
                  prompt: "0.000001",
                  completion: "0.000002",
                })),
              })),
              ...(["text", "fim"] as const).map((completions) => ({
                slug: `legacy-${completions}`,
                name: `Legacy ${completions}`,
                base_url: `http://legacy-${completions}.test/v1`,
                api_key: `legacy-${completions}-provider-key-0123456789`,
                completions,
                models: Array.from({ length: 20 }, (_, index) => ({
                  id: `m${index}`,
                  prompt: "0.000001",
                  completion: "0.000002",
                })),
              })),
              {
                slug: "pooled",
                base_url: "http://pooled.test/v1",
                api_keys: ["one", "two", "three"].map((name) => `pooled-${name}-provider-key-0123456789`),
                models: Array.from({ length: 60 }, (_, index) => ({
                  id: `k${index}`,
                  prompt: "0.000001",
                  completion: "0.000002",
                })).concat([
                  { id: "gift", model: "pooled/gift:free", prompt: "0", completion: "0" } as never,
                  {
                    id: "vectors",
                    context_length: 8192,
                    output: ["embeddings"],
                    prompt: "0.000001",
                    completion: "0",
                  } as never,
                  { id: "vectors-of-any-length", output: ["embeddings"], prompt: "0.000001" } as never,
                ]),
              },
              {
                slug: "batching",
                base_url: "http://batching.test/v1",
                api_key: "batching-provider-key-0123456789",
                responses: true,
                batch_price_percent: 50,
                models: Array.from({ length: 20 }, (_, index) => ({
                  id: `b${index}`,
                  prompt: "0.000001",
                  completion: "0.000002",
                })).concat([
                  { id: "searcher", prompt: "0.000001", completion: "0.000002", web_search: "0.01" } as never,
                  { id: "painter", prompt: "0.000001", completion: "0.000002", image_output: "0.04" } as never,
                ]),
              },
              {
                slug: "claudish",
                wire: "anthropic",
                base_url: "http://claudish.test/v1",
                api_key: "claudish-provider-key-0123456789",
                batch_price_percent: 50,
                models: [
                  { id: "opus", model: "acme/opus-1", prompt: "0.000001", completion: "0.000002" },
                  {
                    id: "searcher",
                    model: "acme/searcher-1",
                    prompt: "0.000001",
                    completion: "0.000002",
                    web_search: "0.01",
                  },
                ],
              },
            ]),
            // Short, so that a stall takes milliseconds; no test waits for these by sleeping.
            LOG_CALLS: "off",
            FIRST_FRAME_TIMEOUT_MS: "8000",
            IDLE_TIMEOUT_MS: "8000",
            // Long, so that a slow machine adds no heartbeat to a stream: tests of heartbeats set their own.
            EARLY_COMMIT_MS: "60000",
            KEEPALIVE_MS: "60000",
          },
          serviceBindings: { EMBEDDED: "gateway-embedded" },
          workers: [
            {
              name: "gateway-embedded",
              modules: true,
              compatibilityDate: "2026-10-15",
              scriptPath: path.join(root, ".wrangler/test/embedded.js"),
            },
          ],
        },
      }),
      workerBundle(tests),
    ],
    test: {
      ...common,
      name: "worker",
      include: tests.map(bundled),
      globalSetup: [path.join(root, "test/support/build-embedded.ts")],
      setupFiles: bundledSetup,
      // A line logged after a file's last test would be an error of the run.
      disableConsoleIntercept: true,
      // A worker that starts with a warm cache would get it as one message, which is larger than workerd accepts.
      fsModuleCache: false,
    },
  }
}
