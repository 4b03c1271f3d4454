import { runCommandLine } from "../../src/dev/command-line.ts"
import type { CommandRequest, Ended } from "./command.ts"

/**
 * Runs commands of the gateway one after the other, each with its environment and directory. Its modules load once:
 * that takes longer than most commands.
 */
let last = Promise.resolve()
process.on("message", (request: CommandRequest) => {
  last = last.then(async () => {
    process.send?.({ id: request.id, ended: await runWith(request) })
  })
})
process.on("disconnect", () => process.exit())

async function runWith({ args, env, cwd }: CommandRequest): Promise<Ended> {
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, env)
  process.chdir(cwd)
  const ended: Ended = { code: 0, out: "", errors: "" }
  console.log = (...lines: unknown[]) => void (ended.out += `${lines.join(" ")}\n`)
  console.error = (...lines: unknown[]) => void (ended.errors += `${lines.join(" ")}\n`)
  console.warn = console.error
  ended.code = await runCommandLine(args)
  return ended
}
