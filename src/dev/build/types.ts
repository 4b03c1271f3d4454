import { runWrangler } from "../start/wrangler.ts"

/**
 * The runtime's types, generated for the pinned wrangler and the compatibility date; the bindings are in
 * src/config/env.ts.
 */
await runWrangler(["types", "worker-configuration.d.ts", "--include-env=false"])
