import type { Env } from "../../config/env.ts"
import { objectNamed } from "../../config/objects.ts"

/** Of a container's image: what its daemon dials in with. */
export type ContainerEnv = { INTERN_GATEWAY_URL: string; INTERN_ID: string; INTERN_JOIN_TOKEN: string }

/** The methods of a container's Durable Object, which the object of its intern calls. */
export interface ContainerRpc extends Rpc.DurableObjectBranded {
  /** Ends a container that runs, and starts a new one. Rejects if it does not start. */
  launch(env: ContainerEnv): Promise<void>
  /** Asks it to end by SIGTERM. */
  halt(): Promise<void>
  /** Ends it at once, and forgets it. */
  remove(): Promise<void>
}

/** The container of an intern; undefined where the deployment binds none. */
export function openContainer(env: Env, internId: string): DurableObjectStub<ContainerRpc> | undefined {
  return env.INTERN_CONTAINER && objectNamed<ContainerRpc>(env, "INTERN_CONTAINER", internId)
}
