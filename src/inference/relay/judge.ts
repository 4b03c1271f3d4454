import { GatewayError } from "../../errors/errors.ts"
import { type FrameWriter, keepAlive } from "../../formats/sse/frame-writer.ts"
import type { HeldEncoder } from "./held-encoder.ts"
import type { StreamRelay } from "./stream-relay.ts"
import type { StopReason } from "./verdict.ts"

type Ended = { held: HeldEncoder | undefined; stop: StopReason | undefined; out: FrameWriter }

/**
 * The error of the guardrails that blocks a response which has ended; undefined if all of them passed it. Then the
 * client receives what was held for their checks.
 */
export async function judge(relay: StreamRelay, { held, stop, out }: Ended): Promise<GatewayError | undefined> {
  const { filter, filtered } = relay
  if (!filter) return undefined
  const blockError = filter.blockError() ?? (stop === "too_long_to_check" ? tooLongError() : await runCheck(relay, out))
  if (!blockError && held) out.write(held.release())
  // The client received nothing, so no text is logged.
  else if (held && filtered) filtered.transcript = { content: "", reasoning: "" }
  return blockError
}

/** The client receives heartbeats until the checks have responded. Does not wait for them after a client disconnect. */
async function runCheck({ filter, encoder, timers }: StreamRelay, out: FrameWriter): Promise<GatewayError | undefined> {
  if (!filter?.check) return undefined
  const stop = keepAlive(out, timers.keepaliveMs, () => encoder.heartbeat())
  try {
    return await Promise.race([filter.check.run(), out.lost])
  } finally {
    stop()
  }
}

function tooLongError(): GatewayError {
  const rule = "The response is too long for the checks of a guardrail. Request a shorter response."
  return new GatewayError("forbidden", rule, { metadata: { reason: "guardrail_unchecked" } })
}
