import { Halt, STEPS_PER_CALL, System, type ProgramState } from "./syscalls.ts"
import { ERRNO, type Tree } from "./tree.ts"

/** Remaining steps for all programs of one shell command. */
export type Budget = { steps: number; all: number }

type Program = { source: string; tree: Tree; cwd: string; stdin: Uint8Array; budget: Budget }
/** `failure`: an uncaught exception, or the reason for a stop. */
export type Outcome = { stdout: Uint8Array; stderr: Uint8Array; failure?: string }

const PAGE_BYTES = 64 * 1024
const MAX_PAGES = (32 * 1024 * 1024) / PAGE_BYTES
const HEAP_BYTES = 1024 * 1024
const STACK_SLOTS = 2048
/** Marks a result that is an exception; an ASCII character separates its type and text. */
const EXCEPTION = -1
const SEPARATOR = "\u0004"

type Exports = Record<string, (...args: number[]) => number> & {
  memory: WebAssembly.Memory
  __indirect_function_table: WebAssembly.Table
  steps: WebAssembly.Global
}

/**
 * Runs a program in a separate instance of MicroPython. Its imports for JavaScript are not provided: a call of one ends
 * the program. A program can therefore only access its memory, the files and three streams.
 */
export function runProgram(module: WebAssembly.Module, { source, budget, ...files }: Program): Outcome {
  let exports: Exports | undefined
  const running = (): Exports => {
    if (!exports) throw new Halt("not started")
    return exports
  }
  const charge = (steps: number) => {
    const remaining = running().steps
    remaining.value -= Math.ceil(steps)
    if (remaining.value < 0) throw new Halt("")
  }
  const program: ProgramState = { ...files, charge, memory: () => running().memory }
  const system = new System(program)
  const allowed = budget.steps
  const output = () => ({ stdout: system.output(1), stderr: system.output(2) })
  try {
    exports = new WebAssembly.Instance(module, importsOf(module, { system, running, charge })).exports as Exports
    exports.steps.value = allowed
    const failure = execute(exports, source)
    return failure === undefined ? output() : { ...output(), failure }
  } catch (thrown) {
    return { ...output(), failure: reasonOf(thrown, exports?.steps.value, budget.all) }
  } finally {
    budget.steps = Math.max(0, exports?.steps.value ?? allowed)
  }
}

function reasonOf(thrown: unknown, remaining: number | undefined, all: number): string {
  if (remaining !== undefined && remaining < 0) return `stopped after ${all} steps. It is a limit of this shell.`
  if (thrown instanceof Halt) return `${thrown.message}.`
  if (thrown instanceof RangeError && thrown.message.includes("call stack"))
    return "RecursionError: maximum recursion depth exceeded"
  return `the interpreter ended: ${thrown instanceof Error ? thrown.message : String(thrown)}`
}

/** Returns the type and text of an exception that the program did not catch. */
function execute(exports: Exports, source: string): string | undefined {
  const call = (name: string, ...args: number[]) => exports[name]?.(...args) ?? 0
  call("emscripten_stack_init")
  call("__wasm_call_ctors")
  call("mp_js_init", STACK_SLOTS, HEAP_BYTES)
  call("proxy_c_init")
  const bytes = new TextEncoder().encode(`${source}\0`)
  const at = call("malloc", bytes.length)
  const result = call("malloc", 12)
  if (at === 0 || result === 0) return "MemoryError: the program is too long"
  new Uint8Array(exports.memory.buffer).set(bytes, at)
  call("mp_js_do_exec", at, bytes.length - 1, result)
  const view = new DataView(exports.memory.buffer)
  if (view.getInt32(result, true) !== EXCEPTION) return undefined
  const [length, text] = [view.getUint32(result + 4, true), view.getUint32(result + 8, true)]
  const message = new TextDecoder().decode(new Uint8Array(exports.memory.buffer, text, length))
  return message.slice(message.indexOf(SEPARATOR) + 1)
}

type Import = (...args: number[]) => number | undefined

type Host = { system: System; running: () => Exports; charge: ProgramState["charge"] }

function importsOf(module: WebAssembly.Module, { system, running, charge }: Host): WebAssembly.Imports {
  const { env, wasi } = system.imports()
  const started = Date.now()
  let waited = 0
  const charged = (call: () => number | undefined) => () => {
    charge(STEPS_PER_CALL)
    return call()
  }
  const served: Record<string, Import> = {
    ...env,
    ...wasi,
    mp_js_random_u32: charged(() => crypto.getRandomValues(new Uint32Array(1))[0]),
    // Waiting is simulated: each call advances the clock, so a pause ends after enough calls.
    mp_js_ticks_ms: charged(() => Date.now() - started + (waited += 1)),
    mp_js_time_ms: charged(() => Date.now() + waited),
    emscripten_resize_heap: (bytes = 0) => grown(running().memory, bytes >>> 0),
    _emscripten_throw_longjmp: () => {
      throw LONG_JUMP
    },
    __syscall_poll: () => -ERRNO.notSupported,
    __syscall_statfs64: () => -ERRNO.notSupported,
  }
  const imports: Record<string, Record<string, Import>> = {}
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    const closed: Import = () => {
      throw new Halt("JavaScript is not available")
    }
    const handler = name.startsWith("invoke_") ? invoke(running) : served[name]
    ;(imports[from] ??= {})[name] = handler ?? closed
  }
  return imports
}

const LONG_JUMP = Number.POSITIVE_INFINITY

/**
 * Calls a function of the module through its table, and catches a `longjmp`, with which the module raises exceptions.
 */
function invoke(running: () => Exports): Import {
  return (index = 0, ...args) => {
    const exports = running()
    const stack = exports["emscripten_stack_get_current"]?.() ?? 0
    try {
      const target = exports.__indirect_function_table.get(index) as Import
      return target(...args)
    } catch (thrown) {
      if (thrown !== LONG_JUMP) throw thrown
      exports["_emscripten_stack_restore"]?.(stack)
      exports["setThrew"]?.(1, 0)
      return 0
    }
  }
}

function grown(memory: WebAssembly.Memory, bytes: number): number {
  const [pages, neededPages] = [memory.buffer.byteLength / PAGE_BYTES, Math.ceil(bytes / PAGE_BYTES)]
  if (neededPages > MAX_PAGES) return 0
  memory.grow(Math.max(0, neededPages - pages))
  return 1
}
