import path from "node:path"
import { parseArgs } from "node:util"

export const root = path.join(import.meta.dirname, "../..")

export type Options = { port: number; fresh: boolean; stateDir: string; envFile: string }

const USAGE = `npm start -- [--port 8787] [--fresh] [--state DIR]
  --port   the port on 127.0.0.1
  --fresh  begin with empty state: new keys, no history
  --state  where state and .dev.env are kept (default: .wrangler/state and the project's folder)`

/** Parses the command line, or exits with the usage text. */
export function readOptions(argv: readonly string[]): Options {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        port: { type: "string", default: "8787" },
        fresh: { type: "boolean", default: false },
        state: { type: "string" },
      },
    })
    const port = Number(values.port)
    if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new Error(`--port must be from 1 to 65535`)
    const home = values.state === undefined ? undefined : path.resolve(values.state)
    return {
      port,
      fresh: values.fresh,
      stateDir: home ? path.join(home, "state") : path.join(root, ".wrangler/state"),
      envFile: path.join(home ?? root, ".dev.env"),
    }
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`)
    process.exit(2)
  }
}
