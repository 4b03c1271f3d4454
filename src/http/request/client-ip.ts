import { configOf } from "../../config/config.ts"
import type { Env } from "../../config/env.ts"

/** Header in which Cloudflare states the address of a client; it replaces one that the client sends. */
const CLOUDFLARE_HEADER = "cf-connecting-ip"

/**
 * The address of a client. workerd without Cloudflare states the address of the connection: a header is then trusted
 * only if CLIENT_IP_HEADER names it, because a client could send any.
 */
export function clientIpOf(request: Request, env: Env): string | undefined {
  const { CLIENT_IP_HEADER: header } = configOf(env)
  if (header !== undefined) return lastOf(request.headers.get(header))
  const connection: unknown = request.cf?.["clientIp"]
  if (typeof connection === "string") return withoutPort(connection)
  return request.headers.get(CLOUDFLARE_HEADER) ?? undefined
}

/** The last address is the one that the nearest proxy has added; those before it are as the client sent them. */
function lastOf(list: string | null): string | undefined {
  const last = list?.split(",").at(-1)?.trim()
  return last === "" ? undefined : last
}

/** `192.0.2.1:1234` or `[2001:db8::1]:1234`, as workerd writes an address. */
function withoutPort(address: string): string {
  return /^\[(.+)\]:\d+$/.exec(address)?.[1] ?? /^([^:]+):\d+$/.exec(address)?.[1] ?? address
}
