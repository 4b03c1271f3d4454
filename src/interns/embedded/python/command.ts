import type { Command, CommandContext, ExecResult } from "just-bash/browser"
import type { Budget } from "./machine.ts"

type Shell = typeof import("just-bash/browser")

/** Step limit for all programs of one shell command. An endless loop reaches it in about a second. */
const MAX_STEPS = 50_000_000
const VERSION = "MicroPython 1.27.0 (the language of Python 3.4 and parts of later versions)\n"

type Program = { name: string; source: string; argv: string[]; folder: string }
type UsageError = { stderr: string; exitCode: number }

/** `python3` and `python` of the shell: MicroPython on the shell's files. Loaded on first use. */
export function pythonCommands({ defineCommand }: Shell): Command[] {
  const budget: Budget = { steps: MAX_STEPS, all: MAX_STEPS }
  return ["python3", "python"].map((name) => defineCommand(name, (args, context) => python(args, context, budget)))
}

async function python(args: readonly string[], context: CommandContext, budget: Budget): Promise<ExecResult> {
  if (args[0] === "--version" || args[0] === "-V") return { stdout: VERSION, stderr: "", exitCode: 0 }
  const program = await programOf(args, context)
  if ("exitCode" in program) return { stdout: "", ...program }
  const { runPython } = await import("./run.ts")
  // If the program is read from standard input, it has no other input.
  const stdin = program.name === "<stdin>" ? new Uint8Array(0) : fromPipe(context.stdin)
  const env = context.exportedEnv ?? Object.fromEntries(context.env)
  const { stdout, stderr, exitCode } = await runPython({ ...program, stdin, env, context, budget })
  return { stdout: toPipe(stdout), stdoutKind: "bytes", stderr: new TextDecoder().decode(stderr), exitCode }
}

async function programOf(args: readonly string[], { fs, cwd, stdin }: CommandContext): Promise<Program | UsageError> {
  let at = 0
  while (/^-[uBsSEIqO]+$/.test(args[at] ?? "")) at += 1
  const [first = "-", second] = args.slice(at)
  if (first === "-c") {
    if (second === undefined) return { stderr: "python3: option -c needs a program.\n", exitCode: 2 }
    return { name: "<string>", source: second, argv: ["-c", ...args.slice(at + 2)], folder: "" }
  }
  const argv = [first, ...args.slice(at + 1)]
  if (first === "-") return { name: "<stdin>", source: new TextDecoder().decode(fromPipe(stdin)), argv, folder: "" }
  if (first.startsWith("-")) {
    return { stderr: `python3: option ${first} is not supported. Use -c, - or a file.\n`, exitCode: 2 }
  }
  const path = fs.resolvePath(cwd, first)
  try {
    return { name: first, source: await fs.readFile(path), argv, folder: path.slice(0, path.lastIndexOf("/")) || "/" }
  } catch {
    return { stderr: `python3: can't open file '${first}': there is no such file.\n`, exitCode: 2 }
  }
}

/** The shell's pipes carry bytes as characters of a string, contrary to their type. */
function fromPipe(piped: unknown): Uint8Array {
  return typeof piped === "string" ? Uint8Array.from(piped, (unit) => unit.charCodeAt(0)) : new Uint8Array(0)
}

function toPipe(bytes: Uint8Array): string {
  return new TextDecoder("latin1").decode(bytes)
}
