import { execFile } from "node:child_process"
import path from "node:path"
import { inject } from "vitest"
import { root } from "../../src/dev/options.ts"

export type Ended = { code: number; out: string; errors: string }

type Options = { env: Record<string, string>; cwd?: string | undefined }

/** Runs a program to its end, without input. */
export function run(file: string, args: readonly string[], { env, cwd = root }: Options): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(file, args, { cwd, env }, (error, out, errors) => {
      resolve({ code: typeof error?.code === "number" ? error.code : error ? 1 : 0, out, errors })
    })
    child.stdin?.end()
  })
}

/**
 * The gateway's command line as a user of another computer has it: what it knows comes from `env`. It runs in HOME where
 * there is one.
 */
export function gatewayCommand(args: readonly string[], env: Record<string, string>): Promise<Ended> {
  const { PATH = "", NODE_COMPILE_CACHE } = process.env
  const cache = NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }
  const known = { PATH, ...cache, GATEWAY_URL: inject("gateway").url, ...env }
  return run(process.execPath, [path.join(root, "src/dev/gateway.ts"), ...args], { env: known, cwd: env["HOME"] })
}
