import { app } from "../../src/app/app.ts"
import type { Env } from "../../src/config/env.ts"
import { EmbeddedHost } from "../../src/interns/embedded/host.ts"
import type { HostEvents } from "../../src/interns/hosts/host.ts"
import type { InternIdentity } from "../../src/interns/hosts/rpc.ts"
import { requestOfRun, type RunContext } from "../../src/policy/run-context.ts"
import { executionContextOf } from "../../src/app/execution-context.ts"
import { ContainerHost } from "./container.ts"
import { DaemonLink } from "./daemon.ts"
import type { RunStore } from "./run-store.ts"

type HostDeps = {
  ctx: DurableObjectState
  env: Env
  runs: RunStore
  /** Context of calls in a session of an embedded agent. */
  contextOf: (acp: string) => RunContext
}

const NO_RUN: RunContext = { limits: [], turn: null }

/** Opens the host of an intern's agent. A host that was open before hibernation keeps its state. */
export function openHost(
  identity: InternIdentity | undefined,
  { ctx, env, runs, contextOf }: HostDeps,
  events: HostEvents,
) {
  if (!identity || identity.host === "embedded") {
    const gatewayFor = (acp: string | null) => async (request: Request) =>
      app.fetch(requestOfRun(request, acp === null ? NO_RUN : contextOf(acp)), env, executionContextOf(ctx))
    return new EmbeddedHost(ctx, env, { runs, events, gatewayFor })
  }
  const link = new DaemonLink(ctx, env, runs, events)
  return identity.host === "daemon" ? link : new ContainerHost(identity.id, env, link)
}

/** Whether a daemon is connected, whether or not its agent is ready. */
export function isDaemonAttached(host: ReturnType<typeof openHost>): boolean {
  return host instanceof DaemonLink && host.isAttached
}

/** The host that a daemon dials in to; undefined for an agent inside the gateway. */
export function daemonOf(host: ReturnType<typeof openHost>): DaemonLink | ContainerHost | undefined {
  return host instanceof EmbeddedHost ? undefined : host
}
