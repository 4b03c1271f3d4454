import { app } from "./app.ts"

export { Ledger } from "../durable-objects/ledger.ts"

export default { fetch: app.fetch }
