import type { Env } from "../../src/config/env.ts"
import { configOf } from "../../src/config/config.ts"
import type { InternHost } from "../../src/interns/hosts/host.ts"
import type { InternIdentity } from "../../src/interns/hosts/rpc.ts"
import { hostnameOf } from "../../src/interns/intern.ts"
import { type InternStatus } from "../../src/interns/kinds.ts"
import { internError } from "../../src/interns/lifecycle/reasons.ts"
import { grantOf } from "../../src/interns/access/tokens.ts"
import { deleteInternRows, findIntern, type InternColumns, moveIntern } from "../../src/interns/store.ts"
import { logError } from "../../src/support/log.ts"
import type { RunStore } from "./run-store.ts"
import type { LifecycleState } from "./facts.ts"

const TOTAL_STEPS = 3
const MAX_ATTEMPTS = 3
const RETRY_MS = 2_000
/** A start or deletion whose isolate died is resumed after this time. */
const STALLED_MS = 30_000

/** Time until the record reports that no host has dialed in. */
const DIAL_IN_MS = 120_000
/** A host that exits after this time did not fail to start. */
const STABLE_MS = 600_000
const MAX_MESSAGE_LENGTH = 500

/** Not retried. */
class NoModel extends Error {
  constructor() {
    super("This intern has no model, and the gateway no default. Set `model` on the intern, or INTERN_MODEL.")
  }
}

type LifecycleDeps = {
  host: () => InternHost
  now: () => number
  stopRuns: () => void
  /** Called when the intern accepts prompts. */
  onRunning: () => void
  clear: () => Promise<void>
}

/** State machine from provisioning to deletion; mirrors its state to the intern's row in D1. */
export class InternLifecycle {
  readonly #runs: RunStore
  readonly #env: Env
  readonly #around: LifecycleDeps
  #booting = false
  /** Counts provisions, suspensions and deletions, for a start that they overtake. */
  #round = 0

  constructor(runs: RunStore, env: Env, deps: LifecycleDeps) {
    this.#runs = runs
    this.#env = env
    this.#around = deps
  }

  get #state(): LifecycleState {
    return this.#runs.fact("lifecycle") ?? { phase: "new", attempt: 0, wakeAt: null, isLossAcknowledged: false }
  }

  #set(change: Partial<LifecycleState>): void {
    this.#runs.setFact("lifecycle", { ...this.#state, ...change })
  }

  setIdentity(identity: InternIdentity): void {
    this.#runs.setFact("identity", identity)
  }

  get identity(): InternIdentity | undefined {
    return this.#runs.fact("identity")
  }

  get #identity(): InternIdentity {
    const identity = this.#runs.fact("identity")
    if (!identity) throw new Error("The Durable Object of an intern has no identity yet.")
    return identity
  }

  /** Whether this isolate performs a start. */
  get isBooting(): boolean {
    return this.#booting
  }

  /** Model that the agent was started with; null if the agent chooses. */
  get model(): string | null {
    return this.#runs.fact("model") ?? null
  }

  get wakeAt(): number | null {
    return this.#state.wakeAt
  }

  requireRunning(): void {
    const { phase, failure } = this.#state
    if (phase === "running") return
    if (failure) throw internError("intern_not_ready", `This intern is not running: ${failure}`)
    const hint = phase === "provisioning" ? "It is being provisioned: retry in a moment." : "Provision it first."
    throw internError("intern_not_ready", `This intern is not running. ${hint}`)
  }

  /** The name of the intern. Throws if it is not running, or if the grant belongs to an earlier provision. */
  async requireGrant(grant: string): Promise<string> {
    this.requireRunning()
    const row = await findIntern(this.#env.DB, this.#identity, this.#identity.id)
    if (row?.status === "running" && row.accessNonce !== null && grantOf(row.accessNonce) === grant) return row.name
    throw internError("intern_not_running", "This intern was just stopped or provisioned. Request its token again.")
  }

  async provision(): Promise<void> {
    this.#round += 1
    const wakeAt = this.#around.now() + STALLED_MS
    this.#set({ phase: "provisioning", attempt: 1, wakeAt, isAwaitingHost: false, failure: null })
    await this.#boot()
  }

  /** Resumes an unfinished start or deletion. */
  async wake(): Promise<void> {
    const { phase, wakeAt, isLossAcknowledged } = this.#state
    if (wakeAt === null || wakeAt > this.#around.now()) return
    if (phase === "provisioning" && this.#state.isAwaitingHost) await this.#hostIsLate()
    else if (phase === "provisioning") await this.#boot()
    else if (phase === "destroying") await this.destroy(isLossAcknowledged)
    else if (phase === "running") await this.#recordRunning()
    else this.#set({ wakeAt: null })
  }

  /** Starts the agent. A provision during a start repeats it with the new configuration. */
  async #boot(): Promise<void> {
    if (this.#booting) return
    this.#booting = true
    try {
      let round: number
      do {
        round = this.#round
        await this.#start(() => round !== this.#round)
      } while (round !== this.#round && this.#state.phase === "provisioning")
    } finally {
      this.#booting = false
    }
  }

  /** `isOver`: whether the intern was provisioned again, suspended or deleted since. */
  async #start(isOver: () => boolean): Promise<void> {
    try {
      await this.#step("Reading the configuration", 1)
      const row = await findIntern(this.#env.DB, this.#identity, this.#identity.id)
      if (isOver()) return
      if (!row) return await this.#around.clear()
      await this.#step("Preparing the workspace", 2)
      if (isOver()) return
      const { id, organizationId, workspaceId, name, instructions } = row
      const host = this.#around.host()
      const model = row.model ?? configOf(this.#env).INTERN_MODEL ?? null
      if (model === null && row.host === "embedded") throw new NoModel()
      this.#runs.setFact("model", model)
      const identity = { id, organizationId, workspaceId }
      await host.start({ ...identity, name, model, instructions })
      if (isOver()) return await this.#undo(host)
      await this.#step(host.startLabel, TOTAL_STEPS)
      if (isOver()) return
      // A host that dials in may connect later.
      this.#set({ wakeAt: host.isUp ? null : this.#around.now() + DIAL_IN_MS, isAwaitingHost: !host.isUp })
      if (host.isUp) await this.hostIsUp()
    } catch (cause) {
      if (!isOver()) await this.#bootFailed(cause)
    }
  }

  /** Ends a host that started although the intern was suspended or deleted meanwhile. */
  async #undo(host: InternHost): Promise<void> {
    const { phase } = this.#state
    if (phase === "stopped") await host.stop()
    else if (phase !== "provisioning") await host.destroy()
  }

  #step(label: string, number: number): Promise<void> {
    const progress = JSON.stringify({ step_label: label, step_number: number, total_steps: TOTAL_STEPS })
    return this.#move(["provisioning"], { progress })
  }

  async #bootFailed(cause: unknown): Promise<void> {
    logError("an intern was not provisioned", { intern: this.#identity.id }, cause)
    const { attempt } = this.#state
    if (attempt < MAX_ATTEMPTS && !(cause instanceof NoModel)) {
      return this.#set({ attempt: attempt + 1, wakeAt: this.#around.now() + RETRY_MS * attempt })
    }
    this.#set({ phase: "stopped", wakeAt: null })
    await this.#fail(cause instanceof Error ? cause.message : "Provisioning failed.", ["provisioning"])
  }

  /** Called when no host has dialed in. The intern still starts as soon as one does. */
  async #hostIsLate(): Promise<void> {
    this.#set({ wakeAt: null })
    await this.#fail(this.#around.host().lateMessage, ["provisioning"])
  }

  #fail(message: string, from: readonly InternStatus[]): Promise<void> {
    const failure = message.slice(0, MAX_MESSAGE_LENGTH)
    this.#set({ failure })
    return this.#move(from, { status: "failed", progress: null, lastFailureMessage: failure })
  }

  /** Called when the agent did not start, or exited before it was ready. The host retries by itself. */
  async agentFailed(message: string): Promise<void> {
    if (this.#state.phase !== "provisioning") return
    await this.#fail(message, ["provisioning", "failed"])
  }

  /** Called when the host exited unexpectedly and does not restart by itself. Restarts it a few times. */
  async hostEnded(message: string): Promise<void> {
    if (this.#state.phase === "running") await this.#move(["running"], { status: "provisioning" })
    const { phase, attempt, upAt = 0 } = this.#state
    if (phase !== "running" && phase !== "provisioning") return
    const isStable = phase === "running" && this.#around.now() - upAt >= STABLE_MS
    this.#set({ phase: "provisioning", attempt: isStable ? 0 : attempt, isAwaitingHost: false })
    await this.#bootFailed(new Error(message))
  }

  /** Called when the agent is connected. The intern accepts prompts before its row in D1 shows it as running. */
  async hostIsUp(): Promise<void> {
    if (this.#state.phase !== "provisioning") return
    this.#set({ phase: "running", isAwaitingHost: false, failure: null, upAt: this.#around.now() })
    this.#around.onRunning()
    await this.#recordRunning()
  }

  /** Writes the running state to D1, and retries later if that fails. */
  async #recordRunning(): Promise<void> {
    const again = this.#around.now() + RETRY_MS
    this.#set({ wakeAt: again })
    try {
      const row = await findIntern(this.#env.DB, this.#identity, this.#identity.id)
      const runningModel = this.model
      const running = { status: "running", progress: null, lastFailureMessage: null, runningModel } as const
      if (row)
        await this.#move(["provisioning", "failed"], {
          ...running,
          hostname: row.hostname ?? hostnameOf(row, this.#env),
        })
    } catch (cause) {
      return logError(
        "running state of an intern was not recorded; will be retried",
        { intern: this.#identity.id },
        cause,
      )
    }
    const { phase, wakeAt } = this.#state
    if (phase === "running" && wakeAt === again) this.#set({ wakeAt: null })
  }

  async suspend(): Promise<void> {
    if (this.#state.phase === "destroying") return
    this.#round += 1
    this.#set({ phase: "stopped", wakeAt: null, failure: null })
    this.#around.stopRuns()
    await this.#around.host().stop()
  }

  async destroy(isLossAcknowledged: boolean): Promise<void> {
    this.#round += 1
    this.#set({ phase: "destroying", isLossAcknowledged, wakeAt: this.#around.now() + STALLED_MS })
    this.#around.stopRuns()
    const isArchived = await this.#around.host().destroy()
    if (!isArchived && !isLossAcknowledged) {
      this.#set({ phase: "stopped", wakeAt: null })
      const lastFailureMessage =
        "workspace_archive_failed: the intern's daemon did not confirm that the workspace was archived. " +
        "Delete again with acknowledge_workspace_loss: true to delete it anyway."
      return this.#move(["destroying"], { status: "destroy_failed", progress: null, lastFailureMessage })
    }
    const row = await findIntern(this.#env.DB, this.#identity, this.#identity.id)
    if (row) await deleteInternRows(this.#env.DB, row, this.#around.now())
    await this.#around.clear()
  }

  #move(from: readonly InternStatus[], columns: InternColumns): Promise<void> {
    return moveIntern(this.#env.DB, this.#identity, { from, columns, now: this.#around.now() })
  }
}
