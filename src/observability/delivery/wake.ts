import type { Env } from "../../config/env.ts"

/** Names the destination whose backlog an object delivers. */
export type DeliveryIdentity = { organizationId: string; destinationId: string }

/** The Durable Object of a destination: one alarm, no rows. */
export interface DeliveryRpc extends Rpc.DurableObjectBranded {
  /** Delivers at this time, or earlier if that was arranged before. */
  wake(destination: DeliveryIdentity, at: number): Promise<void>
}

export async function wakeDelivery(env: Env, destination: DeliveryIdentity, at: number): Promise<void> {
  const object = env.DELIVERY.get(env.DELIVERY.idFromName(destination.destinationId)) as DurableObjectStub<DeliveryRpc>
  await object.wake(destination, at)
}
