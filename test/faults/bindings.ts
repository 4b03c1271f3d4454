import { env } from "cloudflare:workers"
import { vi } from "vitest"
import { CATALOGUE_KEY } from "../../src/models/compile.ts"

/**
 * Faults of the gateway's bindings. They are injected into the prototype of every binding of a kind, so that the
 * Worker and all of its Durable Objects get them alike. `vi.restoreAllMocks` ends them.
 */

type Method = (this: unknown, ...args: unknown[]) => unknown

/** Replaces a method of every binding of this kind; `replace` gets the original method, bound. */
function wrap(sample: object, name: string, replace: (call: () => unknown, self: object, args: unknown[]) => unknown) {
  const prototype = Object.getPrototypeOf(sample) as Record<string, Method>
  const method = prototype[name]
  if (!method) throw new Error(`There is no method ${name}.`)
  vi.spyOn(prototype, name).mockImplementation(function (this: unknown, ...args: unknown[]) {
    const self = this as object
    return replace(() => method.apply(self, args), self, args)
  })
}

const sqlOf = (statement: unknown) => String(Reflect.get(statement as object, "statement"))

/** Runs before each statement of D1. */
export function beforeSql(check: (sql: string) => unknown): void {
  for (const name of ["run", "all", "first", "raw"]) {
    wrap(env.DB.prepare("SELECT 1"), name, async (call, self) => {
      await check(sqlOf(self))
      return call()
    })
  }
  wrap(env.DB, "batch", async (call, _, [statements]) => {
    for (const statement of statements as unknown[]) await check(sqlOf(statement))
    return call()
  })
}

const isWrite = (sql: string) => /\b(?:INSERT|UPDATE|DELETE|REPLACE)\b/i.test(sql)

export function failOn(which: (sql: string) => boolean, message: string): void {
  beforeSql((sql) => {
    if (which(sql)) throw new Error(`D1_ERROR: ${message}`)
  })
}

export const d1 = {
  slow: () => beforeSql(() => new Promise((resolve) => setTimeout(resolve, 60))),
  fails: () => failOn(() => true, "Network connection lost."),
  isReadOnly: () => failOn(isWrite, "attempt to write a readonly database: SQLITE_READONLY"),
  isFull: () => failOn(isWrite, "database or disk is full: SQLITE_FULL"),
  isBehind: () =>
    failOn((sql) => /\b(?:api_keys|generations)\b/.test(sql), "no such column: added_later: SQLITE_ERROR"),
  /** No statement returns while the fault lasts. */
  hangs: () => beforeSql(() => new Promise(() => {})),
}

/** The compiled catalogue that KV returns. */
export function keptCatalogue(text: string | null | Error): void {
  wrap(env.CATALOG, "get", async (call, _, [key]) => {
    if (key !== CATALOGUE_KEY) return call()
    if (text instanceof Error) throw text
    return text
  })
  if (text instanceof Error) wrap(env.CATALOG, "put", () => Promise.reject(text))
}

export function r2Fails(): void {
  for (const name of ["head", "get", "put", "delete", "list"]) {
    wrap(env.FILES, name, () =>
      Promise.reject(new Error("put: We encountered an internal error. Please try again. (10001)")),
    )
  }
}

type Call = { method: string; call: () => Promise<unknown> }

/** Calls of Durable Objects of these classes. */
export function onObjectCall(
  namespaces: readonly DurableObjectNamespace[],
  intercept: (call: Call) => Promise<unknown>,
): void {
  wrap(env.LEDGER, "get", (call, self) => {
    const stub = call() as object
    if (!namespaces.some((namespace) => namespace === self)) return stub
    return new Proxy(stub, {
      get(target, name) {
        const value = Reflect.get(target, name) as unknown
        if (typeof value !== "function" || typeof name !== "string") return value
        return (...args: unknown[]) =>
          intercept({ method: name, call: async () => Reflect.apply(value, target, args) as unknown })
      },
    })
  })
}

/** The error message of the platform. */
export const OVERLOADED = "Durable Object is overloaded. Requests queued for too long."
export const RESET = "Durable Object reset because its code was updated."

type Batch = readonly { body: unknown }[]
type Sender = { sendBatch: (messages: Batch) => Promise<unknown> }

export function onQueue(
  change: (messages: Batch, send: (messages: Batch) => Promise<unknown>) => Promise<unknown>,
): void {
  const prototype = Object.getPrototypeOf(env.BROADCAST) as Sender
  const { sendBatch } = prototype
  vi.spyOn(prototype, "sendBatch").mockImplementation(function (this: unknown, messages: Batch) {
    return change(messages, (changed) => sendBatch.call(this as Sender, changed))
  })
}

/** Ends a fault of the queue, and no other. */
export function restoreQueue(): void {
  vi.mocked((Object.getPrototypeOf(env.BROADCAST) as Sender).sendBatch).mockRestore()
}
