import path from "node:path"
import { parseArgs } from "node:util"
import { root } from "../local/paths.ts"

export { root }

export type Options = { host: string; port: number; fresh: boolean; stateDir: string; envFile: string }

const USAGE = `npm start -- [--port 8787] [--host 127.0.0.1] [--fresh] [--state DIR]
  --port   the port to listen on (PORT)
  --host   the address to listen on; 0.0.0.0 for every network of this machine
  --fresh  start with empty state: new keys, no history
  --state  where state and .dev.env are kept (default: .wrangler/state and the project's folder)
  --help   print this`

/** Parses the command line and the environment's PORT, or exits with the usage text. */
export function readOptions(argv: readonly string[], env: Readonly<NodeJS.Dict<string>> = {}): Options {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        host: { type: "string", default: "127.0.0.1" },
        help: { type: "boolean", default: false },
        port: { type: "string", default: env["PORT"] || "8787" },
        fresh: { type: "boolean", default: false },
        state: { type: "string" },
      },
    })
    if (values.help) {
      console.log(USAGE)
      process.exit(0)
    }
    const port = Number(values.port)
    if (!Number.isInteger(port) || port < 1 || port > 65_535)
      throw new Error(`The port is ${JSON.stringify(values.port)}: --port, or PORT, must be from 1 to 65535`)
    const stateFolder = values.state === undefined ? undefined : path.resolve(values.state)
    return {
      host: values.host,
      port,
      fresh: values.fresh,
      stateDir: stateFolder ? path.join(stateFolder, "state") : path.join(root, ".wrangler/state"),
      envFile: path.join(stateFolder ?? root, ".dev.env"),
    }
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`)
    process.exit(2)
  }
}
