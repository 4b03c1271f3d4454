import type { AcpMessage } from "../run/acp/acp.ts"

/** Configuration of an intern between two provisions. */
export type InternConfig = {
  id: string
  organizationId: string
  workspaceId: string
  name: string
  /** Null for the default of the workspace. */
  model: string | null
  instructions: string | null
}

/** Stores the configuration of the embedded agent. */
export type ConfigStore = {
  fact: (name: "config") => InternConfig | undefined
  setFact: (name: "config", value: InternConfig) => void
}

/** Events that a host reports to its intern object. */
export type HostEvents = {
  message: (message: AcpMessage) => void
  /** The agent can be reached, for the first time or again. */
  up: () => void
  /** The agent did not start, or exited by itself. */
  failed: (message: string) => void
  /** The agent was replaced: the new one does not have the memory of the old one. */
  gone: () => void
  /** The agent cannot be reached; it may come back. */
  down: () => void
}

/** The host of an intern's agent. All hosts speak ACP. */
export type InternHost = {
  readonly isUp: boolean
  /** Identifies the agent's memory: an agent with another epoch must load earlier sessions. */
  readonly epoch: string
  /** Progress label while the host starts. */
  readonly startLabel: string
  /** Advice for a host that does not come up. */
  readonly lateMessage: string
  /** Resolves when the host has done its part; a host that is not up by then sends `up` later. */
  start: (config: InternConfig) => Promise<void>
  send: (message: AcpMessage) => void
  /** Resumes turns that were interrupted with the isolate; only for an agent inside it. */
  resume?: () => void
  /** Stops the agent and keeps its disk. */
  stop: () => Promise<void>
  /** Deletes the agent's disk. False if the archive of the disk was not confirmed first. */
  destroy: () => Promise<boolean>
}
