import type { Env } from "../config/env.ts"
import type { Principal } from "./principal.ts"

/** Hono's generics: the bindings and variables of a request. */
export type App = { Bindings: Env; Variables: { requestId: string; principal: Principal } }
