import { curlCommand } from "./curl.ts"
import { type Disk, shellFiles } from "./disk.ts"
import { gitCommand } from "../git/command.ts"
import { HOME } from "../home.ts"
import { patchCommand } from "../patch.ts"
import { pythonCommands } from "../python/command.ts"
import type { ShellFetch } from "./shell-fetch.ts"
import { withTimeout } from "../../../support/time/time.ts"

const MAX_OUTPUT_CHARS = 16_000
const COMMAND_MS = 120_000
/** Enough for interactive work, too little to block an isolate. */
const EXECUTION_LIMITS = {
  maxCommandCount: 100_000,
  maxLoopIterations: 100_000,
  maxCallDepth: 500,
  maxAwkIterations: 1_000_000,
  maxSedIterations: 100_000,
  maxLiveBytes: 32 * 1024 * 1024,
  maxFileSystemBytes: 32 * 1024 * 1024,
  maxSourceBytes: 256 * 1024,
}

type ShellCommand = {
  command: string
  env: Record<string, string>
  signal: AbortSignal
  fetch: ShellFetch
}

/**
 * Runs a command in an emulated shell: there is no operating system, and its files are rows of the intern. Loaded with
 * the first command, since it is the largest part of the Worker.
 */
export async function runShell(disk: Disk, { command, env, signal, fetch }: ShellCommand): Promise<string> {
  const library = await import("just-bash/browser")
  const { Bash, InMemoryFs } = library
  const before = disk.snapshot()
  const fs = new InMemoryFs(shellFiles(before))
  for (const folder of [HOME, "/tmp"]) await fs.mkdir(folder, { recursive: true })
  const shell = new Bash({
    customCommands: [
      curlCommand(library, fetch),
      gitCommand(library, fetch),
      patchCommand(library),
      ...pythonCommands(library),
    ],
    fs,
    cwd: HOME,
    env: { HOME, USER: "intern", TMPDIR: "/tmp", ...env },
    executionLimits: EXECUTION_LIMITS,
    fetch,
  })
  const exec = (timed: AbortSignal) => shell.exec(command, { signal: timed })
  const { stdout, stderr, exitCode } = await withTimeout(COMMAND_MS, exec, signal)
  const diskErrors = await disk.takeOver(fs, before)
  const parts = [
    withoutLibrary(stdout),
    withoutLibrary(stderr),
    ...diskErrors,
    exitCode === 0 ? "" : `(exit code ${exitCode})`,
  ]
  return (
    truncate(parts.filter((part) => part !== "").join(stdout === "" || stdout.endsWith("\n") ? "" : "\n")) ||
    "(no output)"
  )
}

/** Replaces messages of the library that address the developer who embeds it. */
function withoutLibrary(text: string): string {
  return text
    .replaceAll(
      /command not available in browser environments\. Exclude '[\w-]+' from your commands or use the Node\.js bundle\./g,
      "command not found: this shell has none. An intern with a daemon host has those of its machine.",
    )
    .replaceAll(/, increase executionLimits\.\w+/g, ". It is a limit of this shell")
}

export function truncate(text: string): string {
  if (text.length <= MAX_OUTPUT_CHARS) return text
  return `${text.slice(0, MAX_OUTPUT_CHARS)}\n(cut: ${text.length - MAX_OUTPUT_CHARS} more characters)`
}
