import type { D1Migration } from "cloudflare:test"
import type { Batch } from "../../durable-objects/batch/batch.ts"
import type { Delivery } from "../../durable-objects/delivery/delivery.ts"
import type { Intern } from "../../durable-objects/intern/intern.ts"
import type { Ledger } from "../../durable-objects/ledger/ledger.ts"
import type { Realtime } from "../../durable-objects/realtime/realtime.ts"
import type { Env as GatewayEnv } from "../../src/config/env.ts"

declare global {
  interface ImportMeta {
    /** Vite's: the matching files, here as text. */
    glob<T>(patterns: string[], options: { query: "?raw"; import: "default"; eager: true }): Record<string, T>
    /** Vite's: the matching modules. */
    glob<T>(patterns: string[], options: { eager: true }): Record<string, T>
  }
  namespace Cloudflare {
    interface Env extends Omit<GatewayEnv, "LEDGER" | "INTERN" | "DELIVERY" | "BATCH" | "REALTIME"> {
      LEDGER: DurableObjectNamespace<Ledger>
      INTERN: DurableObjectNamespace<Intern>
      DELIVERY: DurableObjectNamespace<Delivery>
      BATCH: DurableObjectNamespace<Batch>
      REALTIME: DurableObjectNamespace<Realtime>
      TEST_MIGRATIONS: D1Migration[]
    }
  }
}
