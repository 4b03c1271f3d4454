import { openApi } from "./api.ts"
import { Failure } from "./failure.ts"
import { creditsAdd, keysCreate, keysList, keysRevoke } from "./commands/accounts.ts"
import { type Command, readArguments, usageOf } from "./commands/command.ts"
import { connect } from "./commands/connect.ts"
import { apply, plan } from "./commands/declared.ts"
import { doctor, models, providerSwitches, providerTest } from "./commands/models.ts"
import { tail } from "./commands/tail.ts"
import { catalogueUpdate, cataloguePrice, init, providers } from "./commands/setup.ts"
import { exportCalls, reconcile, rotateMasterKey } from "./commands/maintenance.ts"

/** `npm run gateway -- …`: commands for operators of a local or deployed gateway, which use only its public API. */
const COMMANDS: readonly Command[] = [
  init,
  keysList,
  keysCreate,
  keysRevoke,
  creditsAdd,
  plan,
  apply,
  connect,
  doctor,
  providers,
  providerTest,
  ...providerSwitches,
  models,
  catalogueUpdate,
  cataloguePrice,
  rotateMasterKey,
  exportCalls,
  reconcile,
  tail,
]

function help(): string {
  const width = Math.max(...COMMANDS.map(({ name }) => name.length))
  const lines = COMMANDS.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary.split(/\.(?:\s|$)|:?\n/)[0]}`)
  return `npm run gateway -- COMMAND [options]

${lines.join("\n")}

GATEWAY_URL or --url selects the gateway; the default is the one that npm start runs here. Keys come from
BOOTSTRAP_MANAGEMENT_KEY, GATEWAY_MANAGEMENT_KEY and GATEWAY_API_KEY; those of the default are in .dev.vars and .dev.env.
COMMAND --help lists the options.`
}

/** Runs a command and prints its output. Returns the exit code; throws bugs of the program. */
export async function runCommandLine(argv: readonly string[]): Promise<number> {
  try {
    return await dispatch(argv)
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    console.error(error.message)
    return error.exitCode
  }
}

async function dispatch(argv: readonly string[]): Promise<number> {
  const [first = "", second = ""] = argv
  if (first === "" || first === "--help" || first === "help") {
    console.log(help())
    return first === "" ? 2 : 0
  }
  const command =
    COMMANDS.find(({ name }) => name === `${first} ${second}`) ?? COMMANDS.find(({ name }) => name === first)
  if (!command) throw new Failure(`There is no command ${first}.\n\n${help()}`, 2)
  try {
    return await run(command, argv.slice(command.name.split(" ").length))
  } catch (error) {
    if (!(error instanceof Failure) || command.failureCode === undefined) throw error
    throw new Failure(error.message, command.failureCode)
  }
}

async function run(command: Command, argv: readonly string[]): Promise<number> {
  const parsed = readArguments(command, argv)
  if (parsed.values["help"] === true) {
    console.log(usageOf(command))
    return 0
  }
  const url = parsed.values["url"]
  const { values, positionals } = parsed
  const input = {
    values,
    positionals,
    // Created on first use: a link contains the URL of its gateway.
    get api() {
      return openApi(typeof url === "string" ? url : undefined)
    },
  }
  return (await command.run(input)) ?? 0
}
