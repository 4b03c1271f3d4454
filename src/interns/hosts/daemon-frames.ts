import * as z from "zod"
import type { AcpMessage } from "../run/acp.ts"

/**
 * What travels between a daemon and its intern's object: text frames of JSON. Both sides number what they send and keep
 * it until the other has acknowledged it, so that a connection may break anywhere and nothing is lost or done twice.
 */

export const MAX_FRAME_BYTES = 1024 * 1024

/** Close codes. 4000 and 4003 are final for the daemon that gets them; after any other it dials again. */
export const CLOSE = {
  replaced: 4000,
  gap: 4001,
  lost: 4002,
  revoked: 4003,
  reconfigured: 4004,
  malformed: 4005,
} as const

const counter = z.int().min(0)
const message = z.looseObject({ jsonrpc: z.literal("2.0") })

/**
 * `epoch` names the daemon's memory: of its numbers, and of its agent. `next`: the number of the next frame that it sends;
 * `oldest`: of the first that it can still send again; `from`: of the next that it wants.
 */
export const Hello = z.object({
  version: z.literal(1),
  epoch: z.string().min(1).max(128),
  next: counter,
  oldest: counter,
  from: counter,
})

const Frame = z.union([
  z.object({ hello: Hello }),
  z.object({ seq: counter, msg: message }),
  z.object({ ack: counter }),
  z.object({ ping: z.unknown() }),
  z.object({ pong: z.unknown() }),
])
export type Hello = z.infer<typeof Hello>
export type Numbered = { seq: number; msg: AcpMessage }
export type DaemonFrame = { hello: Hello } | Numbered | { ack: number } | { ping: unknown } | { pong: unknown }

/** A frame of a daemon, or undefined for what is none. */
export function readFrame(text: string): DaemonFrame | undefined {
  if (text.length > MAX_FRAME_BYTES) return undefined
  try {
    const parsed = Frame.safeParse(JSON.parse(text))
    return parsed.success ? parsed.data : undefined
  } catch {
    return undefined
  }
}

/** What a daemon is told of its intern when it dials in. `api_key` is the intern's own. */
export type DaemonConfig = {
  intern_id: string
  name: string
  model: string | null
  instructions: string | null
  api_base: string
  api_key: string
  secrets_url: string
}
