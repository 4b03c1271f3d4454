import { runWrangler } from "./wrangler.ts"

/** The runtime's types, made for the pinned wrangler and the compatibility date; the bindings are in src/env.ts. */
await runWrangler(["types", "worker-configuration.d.ts", "--include-env=false"])
