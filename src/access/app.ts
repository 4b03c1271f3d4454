import type { Env } from "../config/env.ts"
import type { Caller } from "./caller.ts"

/** Hono's generics: what travels with a request. */
export type App = { Bindings: Env; Variables: { requestId: string; caller: Caller } }
