import { Bridge } from "./agent/bridge.ts"
import { mcpServersOf, setupOf } from "./agent/agents.ts"
import { Dial, type Ending } from "./dial.ts"
import { destroy, folderIn } from "./files/folder.ts"
import { Host } from "./host.ts"
import { type Options, readOptions, USAGE } from "./options.ts"

const EXIT: Record<Ending, number> = { replaced: 0, refused: 3 }
const USAGE_EXIT = 2

/** `npm run daemon`: runs an agent on this machine for an intern, and dials in to its gateway. */
async function main({ url, internId, joinToken, agent, ...options }: Options): Promise<void> {
  const log = (text: string) => console.error(`intern ${internId}: ${text}`)
  const folder = folderIn(options.dir)
  const host = new Host({ internId, folder, agent, joinToken, gateway: url, log, ...options })
  const attachUrl = new URL(`/api/v1/interns/${encodeURIComponent(internId)}/daemon/attach`, url)
  const end = async (code: number) => {
    await bridge.stopAgent()
    process.exit(code)
  }
  const dial = new Dial({
    attachUrl,
    joinToken,
    log,
    onWelcome: (config) => {
      host.config = config
      host
        .refresh()
        .then((target) => bridge.settle(target))
        .catch((thrown: unknown) => log(String(thrown)))
    },
    onMessage: (message) => bridge.fromGateway(message),
    onLost: () => void bridge.lost(),
    onEnd: (ending, text) => {
      log(text)
      void end(EXIT[ending])
    },
  })
  const bridge = new Bridge({
    cwd: folder.work,
    get sessionMode() {
      return options.sessionMode ?? (host.config && setupOf(agent, host.config, folder).sessionMode)
    },
    authMethod: options.authMethod,
    get titlesAreCommands() {
      return host.config !== undefined && setupOf(agent, host.config, folder).titlesAreCommands === true
    },
    mcpServers: (running) => (host.config ? mcpServersOf(running, host.config) : []),
    toGateway: (message) => dial.send(message),
    startAgent: (handlers) => host.startAgent(handlers),
    destroy: () => destroy(folder, options.archiveDir, internId),
    onVaultChanged: async () => void (await host.refresh()),
    renew: () => dial.renew(),
    log,
  })
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void end(0))
  await host.open()
  dial.open()
}

function options(): Options {
  try {
    return readOptions(process.argv.slice(2), process.env)
  } catch (thrown) {
    console.error(`${thrown instanceof Error ? thrown.message : String(thrown)}\n\n${USAGE}`)
    process.exit(USAGE_EXIT)
  }
}

await main(options())
