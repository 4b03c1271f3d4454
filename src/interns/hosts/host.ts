import type { AcpMessage } from "../run/acp.ts"

/** What an intern runs with from one provision to the next. */
export type InternConfig = {
  id: string
  organizationId: string
  workspaceId: string
  name: string
  /** Null for the default of the workspace. */
  model: string | null
  instructions: string | null
}

/** Where an object keeps the configuration that its embedded agent runs with. */
export type ConfigStore = {
  fact: (name: "config") => InternConfig | undefined
  setFact: (name: "config", value: InternConfig) => void
}

/** Events that a host reports to its intern object. */
export type HostEvents = {
  message: (message: AcpMessage) => void
  /** The agent can be spoken to, for the first time or again. */
  up: () => void
  /** The agent that was there is no more; another one knows nothing of what it had in memory. */
  gone: () => void
  /** The agent cannot be reached; it may come back. */
  down: () => void
}

/** Where the agent of an intern runs. All hosts speak ACP. */
export type InternHost = {
  readonly isUp: boolean
  /** Of the agent's memory: another one knows nothing of earlier sessions unless it loads them. */
  readonly epoch: string
  /** Progress label while the host starts. */
  readonly startLabel: string
  /** Resolves when the host has done what it can; a host that is not up by then sends `up` later. */
  start: (config: InternConfig) => Promise<void>
  send: (message: AcpMessage) => void
  /** Stops the agent and keeps its disk. */
  stop: () => Promise<void>
  /** Deletes the agent's disk. False where that it was archived before is not confirmed. */
  destroy: () => Promise<boolean>
}
