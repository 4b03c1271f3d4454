import * as z from "zod"
import type { AcpMessage } from "../run/acp/acp.ts"
import { type Hello, MAX_FRAME_BYTES, PROTOCOL_VERSION } from "./daemon-protocol.ts"

const counter = z.int().min(0)
const message = z.looseObject({ jsonrpc: z.literal("2.0") })

const hello = z.object({
  version: z.literal(PROTOCOL_VERSION),
  epoch: z.string().min(1).max(128),
  next: counter,
  oldest: counter,
  from: counter,
})

const Frame = z.union([
  z.object({ hello }),
  z.object({ seq: counter, msg: message }),
  z.object({ ack: counter }),
  z.object({ ping: z.unknown() }),
  z.object({ pong: z.unknown() }),
])
export type Numbered = { seq: number; msg: AcpMessage }
export type DaemonFrame = { hello: Hello } | Numbered | { ack: number } | { ping: unknown } | { pong: unknown }

/** Parses a frame of a daemon; undefined if it is invalid. */
export function readFrame(text: string): DaemonFrame | undefined {
  if (text.length > MAX_FRAME_BYTES) return undefined
  try {
    const parsed = Frame.safeParse(JSON.parse(text))
    return parsed.success ? parsed.data : undefined
  } catch {
    return undefined
  }
}
