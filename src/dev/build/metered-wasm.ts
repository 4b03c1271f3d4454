/**
 * Gives a WebAssembly module a step limit: an exported global counts down in each function, each loop iteration and by
 * the bytes that are copied; below zero, the module traps, which nothing in it can catch. An imported function would
 * also work, but would renumber all functions and cost a call each time.
 */
export function meterWasm(module: Uint8Array, exportName: string): Uint8Array<ArrayBuffer> {
  const sections = sectionsOf(module)
  const content = (id: number) => new Reader(sections.find((section) => section.id === id)?.bytes ?? Uint8Array.of(0))
  const imported = importsIn(content(IMPORT))
  const counter = imported.globals + content(GLOBAL).number()
  const parameters = parametersIn(content(TYPE))
  const types = content(FUNCTION).numbers()
  const written = sections.flatMap(({ id, bytes }) => {
    // Name and producer sections are for debuggers.
    if (id === CUSTOM) return []
    if (id === GLOBAL) return section(id, appendEntry(bytes, [I32, MUTABLE, ...I32_CONST_0, END]))
    if (id === EXPORT) {
      const name = [...new TextEncoder().encode(exportName)]
      return section(id, appendEntry(bytes, [name.length, ...name, GLOBAL_KIND, ...leb(counter)]))
    }
    if (id !== CODE) return section(id, bytes)
    return section(
      id,
      meterCode(bytes, counter, (index) => parameters[types[index] ?? -1] ?? 0),
    )
  })
  return Uint8Array.from([...module.subarray(0, HEADER_BYTES), ...written])
}

const HEADER_BYTES = 8
const [CUSTOM, TYPE, IMPORT, FUNCTION, GLOBAL, EXPORT, CODE] = [0, 1, 2, 3, 6, 7, 10] as const
const [I32, MUTABLE, END, GLOBAL_KIND, FUNC_TYPE] = [0x7f, 1, 0x0b, 3, 0x60] as const
const I32_CONST_0 = [0x41, 0]
const BYTES_OF_A_STEP_LOG2 = 5

function meterCode(bytes: Uint8Array, counter: number, parametersOf: (index: number) => number): number[] {
  const reader = new Reader(bytes)
  const count = reader.number()
  const bodies: number[] = []
  for (let index = 0; index < count; index += 1) {
    const body = meterBody(new Reader(reader.take(reader.number())), counter, parametersOf(index))
    for (const byte of [...leb(body.length), ...body]) bodies.push(byte)
  }
  return leb(count).concat(bodies)
}

function meterBody(reader: Reader, counter: number, parameters: number): number[] {
  const groups = reader.number()
  const start = reader.at
  let local = parameters
  for (let group = 0; group < groups; group += 1) {
    local += reader.number()
    reader.skip(1)
  }
  const body = [...leb(groups + 1), ...reader.since(start), 1, I32]
  const step = charge(counter, [0x41, 1])
  // i32.const BYTES_OF_A_STEP_LOG2, i32.shr_u
  const byLength = charge(counter, [0x20, ...leb(local), 0x41, BYTES_OF_A_STEP_LOG2, 0x76])
  body.push(...step)
  while (!reader.isAtEnd) {
    const from = reader.at
    const kind = skipInstruction(reader)
    // local.set, the charge, local.get
    if (kind === "bulk") body.push(0x21, ...leb(local), ...byLength, 0x20, ...leb(local))
    body.push(...reader.since(from))
    if (kind === "loop") body.push(...step)
  }
  return body
}

/**
 * Subtracts an amount from the counter: global.get, the amount, i32.sub, global.set; then traps if it is below zero.
 */
function charge(counter: number, amount: readonly number[]): number[] {
  const [get, set] = [
    [0x23, ...leb(counter)],
    [0x24, ...leb(counter)],
  ]
  // i32.lt_s, if, unreachable, end
  return [...get, ...amount, 0x6b, ...set, ...get, ...I32_CONST_0, 0x48, 0x04, 0x40, 0x00, END]
}

type Kind = "loop" | "bulk" | undefined

/** Reads one instruction. Rejects unknown ones, and memory.grow, which would bypass the host. */
function skipInstruction(reader: Reader): Kind {
  const opcode = reader.byte()
  if (opcode === 0xfc) return skipPrefixed(reader)
  if (opcode === 0x0e) reader.numbers()
  else if (opcode === 0x1c) reader.skip(reader.number())
  else if (opcode === 0x43) reader.skip(4)
  else if (opcode === 0x44) reader.skip(8)
  const count = immediatesOf(opcode)
  if (count === undefined) throw new Error(`The module has an instruction that is not metered: ${opcode.toString(16)}.`)
  for (let remaining = count; remaining > 0; remaining -= 1) reader.leb()
  return opcode === 0x03 ? "loop" : undefined
}

/** Number of immediates after an instruction, besides those already read. */
function immediatesOf(opcode: number): number | undefined {
  if (opcode === 0x11 || (opcode >= 0x28 && opcode <= 0x3e)) return 2
  if ((opcode >= 0x20 && opcode <= 0x26) || (opcode >= 0x41 && opcode <= 0x42)) return 1
  if ([0x02, 0x03, 0x04, 0x0c, 0x0d, 0x0e, 0x10, 0x3f, 0xd0, 0xd2].includes(opcode)) return 1
  if ([0x00, 0x01, 0x05, 0x0b, 0x0f, 0x1a, 0x1b, 0x1c, 0xd1].includes(opcode)) return 0
  return opcode >= 0x43 && opcode <= 0xc4 ? 0 : undefined
}

function skipPrefixed(reader: Reader): Kind {
  const operation = reader.number()
  const [MEMORY_COPY, MEMORY_FILL] = [10, 11]
  if (operation > MEMORY_FILL || operation === 8 || operation === 9)
    throw new Error(`The module has an instruction that is not metered: fc ${operation}.`)
  if (operation === MEMORY_COPY) reader.skip(2)
  if (operation === MEMORY_FILL) reader.skip(1)
  return operation >= MEMORY_COPY ? "bulk" : undefined
}

/** A section with one more entry at its end. */
function appendEntry(bytes: Uint8Array, entry: readonly number[]): number[] {
  const reader = new Reader(bytes)
  return [...leb(reader.number() + 1), ...reader.rest(), ...entry]
}

function section(id: number, bytes: ArrayLike<number>): number[] {
  return [id, ...leb(bytes.length)].concat(Array.from(bytes))
}

function sectionsOf(module: Uint8Array): { id: number; bytes: Uint8Array }[] {
  const reader = new Reader(module.subarray(HEADER_BYTES))
  const sections = []
  while (!reader.isAtEnd) sections.push({ id: reader.byte(), bytes: reader.take(reader.number()) })
  return sections
}

/** Number of parameters of each function type. */
function parametersIn(reader: Reader): number[] {
  return Array.from({ length: reader.number() }, () => {
    if (reader.byte() !== FUNC_TYPE) throw new Error("The module has a type that is not of a function.")
    const parameters = reader.number()
    reader.skip(parameters)
    reader.skip(reader.number())
    return parameters
  })
}

function importsIn(reader: Reader): { globals: number } {
  let globals = 0
  for (let remaining = reader.number(); remaining > 0; remaining -= 1) {
    for (const _ of ["module", "name"]) reader.skip(reader.number())
    const kind = reader.byte()
    if (kind === GLOBAL_KIND) globals += 1
    if (kind !== 0 && kind !== GLOBAL_KIND) throw new Error("The module imports its memory or a table.")
    if (kind === 0) reader.number()
    else reader.skip(2)
  }
  return { globals }
}

function leb(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...leb(value >>> 7)]
}

class Reader {
  readonly #bytes: Uint8Array
  at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.at >= this.#bytes.length
  }

  byte(): number {
    const byte = this.#bytes[this.at]
    if (byte === undefined) throw new Error("The module is truncated.")
    this.at += 1
    return byte
  }

  skip(bytes: number): void {
    this.at += bytes
  }

  take(bytes: number): Uint8Array {
    this.at += bytes
    return this.#bytes.subarray(this.at - bytes, this.at)
  }

  since(start: number): Uint8Array {
    return this.#bytes.subarray(start, this.at)
  }

  rest(): Uint8Array {
    return this.#bytes.subarray(this.at)
  }

  /** Skips a number of any width and sign. */
  leb(): void {
    while (this.byte() >= 0x80);
  }

  /** Unsigned, of 32 bits. */
  number(): number {
    let [value, shift] = [0, 0]
    for (;;) {
      const byte = this.byte()
      value |= (byte & 0x7f) << shift
      if (byte < 0x80) return value >>> 0
      shift += 7
    }
  }

  numbers(): number[] {
    return Array.from({ length: this.number() }, () => this.number())
  }
}
