import type { Command, CommandContext } from "just-bash/browser"
import type { ShellFetch } from "./shell-fetch.ts"

type Shell = typeof import("just-bash/browser")

/**
 * The shell's built-in `curl` follows redirects even without `-L`, and cannot read a body from standard input. This
 * command fixes both and delegates the rest to the built-in one.
 */
export function curlCommand({ Bash, defineCommand }: Shell, fetch: ShellFetch): Command {
  return defineCommand("curl", async (args, context) => {
    const followRedirects = args.some(isLocationFlag)
    const inner = new Bash({
      fs: context.fs,
      cwd: context.cwd,
      env: Object.fromEntries(context.env),
      fetch: (url, options) => fetch(url, { ...options, followRedirects }),
    })
    const input = args.some(isStdin) ? await saveStdin(context) : ""
    const command = ["curl", ...args.map((arg) => (isStdin(arg) ? `@${input}` : arg))].map(quote).join(" ")
    const { stdout, stderr, exitCode } = await inner.exec(command, signalOf(context))
    if (input !== "") await context.fs.rm(input)
    return { stdout, stderr, exitCode }
  })
}

/** Single letters may be joined: `-sSL`. Letters after one that takes a value are its value. */
const LETTERS_WITH_VALUE = /[AbcdDeEFHhKmoPQrTtuUwXxyYzC]/

function isLocationFlag(arg: string): boolean {
  if (/^--location(?:-trusted)?$/.test(arg)) return true
  if (!/^-[A-Za-z0-9#]/.test(arg)) return false
  const letters = arg.slice(1).split(LETTERS_WITH_VALUE)[0] ?? ""
  return letters.includes("L")
}

function quote(arg: string): string {
  return `'${arg.replaceAll("'", "'\\''")}'`
}

const isStdin = (arg: string) => arg === "@-"

/** The shell's pipes carry bytes as characters of a string, contrary to their type. */
async function saveStdin({ fs, stdin: piped }: CommandContext): Promise<string> {
  const stdin: unknown = piped
  const path = `/tmp/.curl-${crypto.randomUUID()}`
  await fs.writeFile(path, typeof stdin === "string" ? Uint8Array.from(stdin, (unit) => unit.charCodeAt(0)) : "")
  return path
}

function signalOf({ signal }: CommandContext): { signal?: AbortSignal } {
  return signal ? { signal } : {}
}
