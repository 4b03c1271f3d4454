/** Models of each replica. Numbers below `FIRST` are for tests that name their model. */
export const REPLICA_MODELS = 300
const FIRST = 100

let used = 0

/** A model of the replicas that no test of this isolate has called: an isolate keeps what it learns of an endpoint. */
export function newReplicaModel(): string {
  const number = FIRST + (used % (REPLICA_MODELS - FIRST))
  used += 1
  return `acme/chat-${number}`
}
