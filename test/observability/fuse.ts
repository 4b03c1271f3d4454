/** Throws at one operation, before or after the operation is done. */
export class Fuse {
  #left: number
  readonly #isAfter: boolean

  constructor(operations: number, isAfter: boolean) {
    this.#left = operations
    this.#isAfter = isAfter
  }

  async run<T>(operation: () => Promise<T>): Promise<T> {
    const isHere = this.#left-- === 0
    if (isHere && !this.#isAfter) throw new Error("The runtime died.")
    const result = await operation()
    if (isHere) throw new Error("The runtime died.")
    return result
  }
}

/** The same object, whose methods of these names use the fuse. */
export function withFuse<T extends object>(target: T, names: readonly string[], fuse: Fuse): T {
  return new Proxy(target, {
    get(object, name) {
      const value: unknown = Reflect.get(object, name)
      if (typeof value !== "function") return value
      const call = (...given: unknown[]): unknown => Reflect.apply(value, object, given)
      if (name === "prepare" || name === "bind") {
        return (...given: unknown[]) => statement(call(...given) as D1PreparedStatement, fuse)
      }
      if (name === "batch") {
        return (given: D1PreparedStatement[]) =>
          fuse.run(async () => call(given.map((one) => plain.get(one) ?? one)) as Promise<unknown>)
      }
      return names.includes(String(name)) ? (...given: unknown[]) => fuse.run(async () => call(...given)) : call
    },
  })
}

const plain = new WeakMap<D1PreparedStatement, D1PreparedStatement>()

function statement(real: D1PreparedStatement, fuse: Fuse): D1PreparedStatement {
  const wrapped = withFuse(real, ["run", "all", "first"], fuse)
  plain.set(wrapped, real)
  return wrapped
}
