import type { Env } from "../../config/env.ts"
import { objectNamed } from "../../config/objects.ts"

/** Names the destination whose backlog an object delivers. */
export type DeliveryIdentity = { organizationId: string; destinationId: string }

/** The Durable Object of a destination: one alarm, no rows. */
export interface DeliveryRpc extends Rpc.DurableObjectBranded {
  /** Delivers at this time, or earlier if an earlier wake-up is set. */
  wake(destination: DeliveryIdentity, at: number): Promise<void>
}

export async function wakeDelivery(env: Env, destination: DeliveryIdentity, at: number): Promise<void> {
  await objectNamed<DeliveryRpc>(env, "DELIVERY", destination.destinationId).wake(destination, at)
}
