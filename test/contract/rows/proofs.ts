import { testsIn } from "./rows.ts"

/** The files that most rows name. */
export const account = testsIn("contract/account.worker.test.ts")
export const agent = testsIn("inference/agent.worker.test.ts")
export const defaults = testsIn("contract/defaults.test.ts")
export const document = testsIn("contract/document.worker.test.ts")
export const faults = testsIn("inference/faults.worker.test.ts")
export const internStream = testsIn("contract/intern-stream.worker.test.ts")
export const internUpdate = testsIn("contract/intern-update.worker.test.ts")
export const keys = testsIn("keys/routes.worker.test.ts")
export const lifecycle = testsIn("interns/lifecycle.worker.test.ts")
export const programme = testsIn("contract/interns-access.worker.test.ts")
export const records = testsIn("contract/records.worker.test.ts")
export const relay = testsIn("inference/relay.worker.test.ts")
export const requests = testsIn("contract/requests.worker.test.ts")
export const runs = testsIn("interns/runs.worker.test.ts")
export const statuses = testsIn("contract/statuses.worker.test.ts")
export const vault = testsIn("vault/vault.worker.test.ts")
