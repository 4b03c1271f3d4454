import type { Env } from "../config/env.ts"
import gateway from "../index.ts"
import embedded from "./index.ts"
import { ensureDevelopment } from "./provision.ts"

export { Intern, Ledger } from "../index.ts"

/** The embedded upstream, which `wrangler dev` binds to this Worker itself. `npm start` runs it apart. */
export const EmbeddedUpstream = embedded

/** The main module of `wrangler dev`: the gateway, with a catalogue, an organization and keys from the first request. */
export default {
  ...gateway,
  async fetch(request, env, context) {
    await ensureDevelopment(env, (request) => gateway.fetch(request, env, context))
    return gateway.fetch(request, env, context)
  },
} satisfies ExportedHandler<Env, never>
