/** An error of git, with git's message. */
export class GitError extends Error {
  readonly exitCode: number

  constructor(message: string, exitCode = 1) {
    super(message)
    this.exitCode = exitCode
  }
}

export type Parsed = {
  names: string[]
  /** Arguments after `--`. */
  paths: string[]
  has: (...flags: string[]) => boolean
  value: (...flags: string[]) => string | undefined
}

/** `values`: options with a value. Letters may be joined, as in `-am`. */
export function parseArguments(
  args: readonly string[],
  flags: readonly string[],
  values: readonly string[] = [],
): Parsed {
  const found = new Map<string, string | undefined>()
  const names: string[] = []
  const split = args.indexOf("--")
  const rest = expand(split === -1 ? args : args.slice(0, split), values)
  for (let at = 0; at < rest.length; at++) {
    const argument = rest[at] ?? ""
    if (!argument.startsWith("-") || argument === "-") {
      names.push(argument)
      continue
    }
    const [name = "", inline] = argument.split(/=(.*)/s)
    if (values.includes(name)) {
      const value = inline ?? rest[++at]
      if (value === undefined) throw new GitError(`error: option \`${name}' requires a value`, 129)
      found.set(name, value)
    } else if (flags.includes(name)) found.set(name, undefined)
    else throw new GitError(`error: unknown option \`${name}'; this git has ${[...flags, ...values].join(", ")}`, 129)
  }
  return {
    names,
    paths: split === -1 ? [] : args.slice(split + 1),
    has: (...names) => names.some((flag) => found.has(flag)),
    value: (...names) => names.map((flag) => found.get(flag)).find((value) => value !== undefined),
  }
}

/** `-am` is `-a -m`; `-n5` is `-n 5`. */
function expand(args: readonly string[], values: readonly string[]): string[] {
  return args.flatMap((argument) => {
    if (!/^-[A-Za-z]./.test(argument)) return [argument]
    const [letters, out] = [argument.slice(1), [] as string[]]
    for (let at = 0; at < letters.length; at++) {
      out.push(`-${letters[at]}`)
      if (values.includes(`-${letters[at]}`) && at + 1 < letters.length) return [...out, letters.slice(at + 1)]
    }
    return out
  })
}
