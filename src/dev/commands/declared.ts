import type { Command, CommandInput } from "./command.ts"

const options: Command["options"] = {
  prune: { type: "boolean", description: "also remove what the file does not have, of the kinds that it declares" },
  state: { type: "string", description: "the state file (default: FILE.state.json)" },
}

export const plan: Command = {
  name: "plan",
  summary:
    "Compares a file of declared configuration with the gateway.\nExits with 0 without changes, 2 with changes, 1 on errors. Needs GATEWAY_MANAGEMENT_KEY.",
  takes: ["FILE"],
  options,
  failureCode: 1,
  run: async (input) => (await load()).runPlan(input),
}

export const apply: Command = {
  name: "apply",
  summary:
    "Changes the gateway to what a file declares, and does nothing where it is so already.\nExits with 1 if something was refused. Needs GATEWAY_MANAGEMENT_KEY.",
  takes: ["FILE"],
  options: {
    ...options,
    force: { type: "boolean", description: "also change what somebody else changed since the last apply" },
    "keys-out": { type: "string", description: "a new file for the secrets of new keys" },
  },
  failureCode: 1,
  run: async (input) => (await load()).runApply(input),
}

type Runs = Record<"runPlan" | "runApply", (input: CommandInput) => Promise<number | void>>

/** The schemas of all resources take half a second to load, which no other command should spend. */
const load = (): Promise<Runs> => import("../declared/run.ts")
