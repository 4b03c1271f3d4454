/**
 * Protocol between a daemon and its intern's object: JSON text frames. Both sides number their frames and keep them
 * until acknowledged, so that after a broken connection no frame is lost or handled twice.
 */

export const PROTOCOL_VERSION = 1
/** The gateway closes a socket that receives a larger frame. */
export const MAX_FRAME_BYTES = 1_048_576

/** Close codes. 4000 and 4003 are final for the daemon; after any other it reconnects. */
export const CLOSE = {
  done: 1000,
  replaced: 4000,
  gap: 4001,
  lost: 4002,
  revoked: 4003,
  reconfigured: 4004,
  malformed: 4005,
} as const

/**
 * `epoch` identifies the daemon's memory: its frame numbers and its agent. `next`: number of the next frame to send;
 * `oldest`: first frame that can still be sent again; `from`: next frame that it expects.
 */
export type Hello = { version: typeof PROTOCOL_VERSION; epoch: string; next: number; oldest: number; from: number }

export type Welcome = { epoch: string; from: number; next: number; oldest: number; config: DaemonConfig }

/** Configuration that the gateway sends to a daemon on every connect. */
export type DaemonConfig = {
  intern_id: string
  name: string
  model: string | null
  instructions: string | null
  /** Ends in `/api/v1`. */
  api_base: string
  /** The intern's own key. */
  api_key: string
  /** Slugs of MCP servers that the agent may use, at `{api_base}/mcp/{slug}`. Older gateways send none. */
  mcp_servers?: readonly string[]
  /** Initial files of the agent's folder. Older gateways send none. */
  files_url?: string
  secrets_url: string
  /** Where requests to hosts of secrets are sent. */
  egress_url: string
}
