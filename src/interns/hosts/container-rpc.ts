import type { Env } from "../../config/env.ts"
import { objectNamed } from "../../config/objects.ts"

/** Environment of a container, with the credentials of its daemon. */
export type ContainerEnv = { INTERN_GATEWAY_URL: string; INTERN_ID: string; INTERN_JOIN_TOKEN: string }

/** The methods of a container's Durable Object, which the object of its intern calls. */
export interface ContainerRpc extends Rpc.DurableObjectBranded {
  /** Ends a running container and starts a new one. Rejects if it does not start. */
  launch(env: ContainerEnv): Promise<void>
  /** Sends SIGTERM. */
  halt(): Promise<void>
  /** Kills the container and deletes its state. */
  remove(): Promise<void>
}

/** The container of an intern; undefined if the deployment binds none. */
export function openContainer(env: Env, internId: string): DurableObjectStub<ContainerRpc> | undefined {
  return env.INTERN_CONTAINER && objectNamed<ContainerRpc>(env, "INTERN_CONTAINER", internId)
}
