import { Container, type StopParams } from "@cloudflare/containers"
import type { Env } from "../../src/config/env.ts"
import type { ContainerEnv, ContainerRpc } from "../../src/interns/hosts/container-rpc.ts"
import { openIntern } from "../../src/interns/lifecycle/open-intern.ts"
import { logError } from "../../src/support/log.ts"

/** Id of the intern whose container should run. Absent during a start, and after a requested stop. */
const INTERN = "intern"
const IS_REMOVED = "is_removed"

const NO_INSTANCE = "there is no container instance"

/**
 * The container of one intern: the image of src/daemon, whose daemon dials in to the object of the intern. The base
 * class starts and monitors it; an unexpected exit is reported to the intern.
 *
 * Separate from the intern's object: without a container engine the runtime cannot open an object with a container, and
 * an object with a running container never hibernates.
 */
export class InternContainer extends Container<Env> implements Omit<ContainerRpc, keyof Rpc.DurableObjectBranded> {
  override enableInternet = true

  async launch(dialIn: ContainerEnv): Promise<void> {
    const { kv } = this.ctx.storage
    kv.delete(INTERN)
    kv.delete(IS_REMOVED)
    if (this.ctx.container?.running) await this.destroy()
    try {
      await this.start({ envVars: dialIn, enableInternet: this.enableInternet })
    } catch (cause) {
      throw new Error(startError(cause), { cause })
    }
    if (!this.ctx.container?.running) throw new Error("The container exited at once. Read its log.")
    kv.put(INTERN, dialIn.INTERN_ID)
  }

  async halt(): Promise<void> {
    this.ctx.storage.kv.delete(INTERN)
    await this.stop()
  }

  async remove(): Promise<void> {
    this.ctx.storage.kv.delete(INTERN)
    this.ctx.storage.kv.put(IS_REMOVED, true)
    if (this.ctx.container?.running) await this.destroy()
    await this.ctx.storage.setAlarm(Date.now())
  }

  /** Awaited and repeated by the base class until it succeeds. */
  override async onStop({ exitCode }: StopParams): Promise<void> {
    const id = this.ctx.storage.kv.get<string>(INTERN)
    if (id === undefined) return
    await openIntern(this.env, id).containerEnded(exitCode)
    this.ctx.storage.kv.delete(INTERN)
  }

  /** The base class throws start errors to the caller; errors of a running container only arrive here. */
  override onError(error: unknown): void {
    logError("a container failed", { intern: this.ctx.id.name ?? "" }, error)
  }

  /** Ignored: the daemon dials out, so the container has no request activity. It is stopped with its intern. */
  override onActivityExpired(): Promise<void> {
    this.renewActivityTimeout()
    return Promise.resolve()
  }

  override async alarm(props?: AlarmInvocationInfo): Promise<void> {
    if (this.ctx.storage.kv.get(IS_REMOVED)) return this.ctx.storage.deleteAll()
    await super.alarm(props)
  }
}

function startError(cause: unknown): string {
  const reason = cause instanceof Error ? cause.message : String(cause)
  if (!reason.includes(NO_INSTANCE)) return `The container did not start: ${reason}`
  return "No container is free: raise max_instances of [[containers]], or wait until the image is deployed."
}
