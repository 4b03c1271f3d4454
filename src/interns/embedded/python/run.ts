import type { CommandContext } from "just-bash/browser"
// Made by src/dev/build/python-build.ts. A Worker may not compile WebAssembly, so it is a module.
import interpreter from "../../../../dist/micropython.wasm"
import { type Budget, runProgram } from "./machine.ts"
import { Tree } from "./tree.ts"

type Call = {
  name: string
  source: string
  argv: readonly string[]
  /** First folder to search for modules; empty for the current folder. */
  folder: string
  env: Record<string, string>
  stdin: Uint8Array
  context: CommandContext
  budget: Budget
}

type Ended = { stdout: Uint8Array; stderr: Uint8Array; exitCode: number }

/** Steps charged for a start: creating an instance and loading files. */
const STEPS_OF_A_START = 300_000
const STEPS_OF_A_FILE = 1_000
const NO_STEPS = "python3: the programs of this command have used all their steps. It is a limit of this shell.\n"

const bytesOf = (text: string) => new TextEncoder().encode(text)

export async function runPython({ context, stdin, budget, ...call }: Call): Promise<Ended> {
  const { fs, cwd } = context
  if (budget.steps <= 0) return { stdout: stdin.subarray(0, 0), stderr: bytesOf(NO_STEPS), exitCode: 1 }
  const tree = await Tree.load(fs)
  budget.steps -= STEPS_OF_A_START + tree.size * STEPS_OF_A_FILE
  const { stdout, stderr, failure } = runProgram(interpreter, { source: start(call), tree, cwd, stdin, budget })
  await tree.writeBack(fs)
  if (failure === undefined) return { stdout, stderr, exitCode: 0 }
  const { text, exitCode } = endOf(failure)
  return { stdout, stderr: Uint8Array.from([...stderr, ...bytesOf(text)]), exitCode }
}

/**
 * Code that runs before a program. It rejects the modules for JavaScript only to raise Python's error: access is
 * prevented by the missing imports.
 */
function start({ name, source, argv, folder, env }: Pick<Call, "name" | "source" | "argv" | "folder" | "env">): string {
  const [program, file, list, path, environment] = [source, name, argv, folder, env].map((each) => JSON.stringify(each))
  return `import builtins, os, sys
sys.argv[:] = ${list}
sys.path[0] = ${path}
os.environ = ${environment}
os.getenv = lambda name, default=None: os.environ.get(name, default)
def closed(load):
  def __import__(name, *rest):
    if name.split(".")[0] in ("js", "jsffi"): raise ImportError("no module named '" + name + "'")
    return load(name, *rest)
  return __import__
def input(prompt=""):
  sys.stdout.write(str(prompt))
  line = sys.stdin.readline()
  if not line: raise EOFError
  return line[:-1] if line[-1] == "\\n" else line
builtins.__import__, builtins.input = closed(builtins.__import__), input
exec(compile(${program}, ${file}, "exec"), {"__name__": "__main__", "__file__": ${file}})`
}

/** Exit code and message of a program that was stopped or failed. */
function endOf(failure: string): { text: string; exitCode: number } {
  if (!failure.startsWith("Traceback")) return { text: `python3: ${failure}\n`, exitCode: 1 }
  // Removes the lines of the code before the program.
  const text = failure
    .replace(/\n {2}File "<stdin>", line \d+, in <module>/, "")
    .replaceAll(/\n {2}File "<stdin>", line \d+, in __import__/g, "")
  const [, status] = /\nSystemExit: ?([^]*)$/.exec(text) ?? []
  if (status === undefined) return { text, exitCode: 1 }
  const message = status.trimEnd()
  if (/^(?:|None|-?\d+|True|False)$/.test(message)) {
    return { text: "", exitCode: message === "True" ? 1 : (Number.parseInt(message, 10) || 0) & 255 }
  }
  return { text: `${message}\n`, exitCode: 1 }
}
