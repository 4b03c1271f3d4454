import type { Command, CommandInput } from "./command.ts"

const options: Command["options"] = {
  prune: { type: "boolean", description: "also remove resources that are not in the file, of the declared kinds" },
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
  summary: "Changes the gateway to match a file. Exits with 1 if a change was rejected.\nNeeds GATEWAY_MANAGEMENT_KEY.",
  takes: ["FILE"],
  options: {
    ...options,
    force: { type: "boolean", description: "also overwrite changes made elsewhere since the last apply" },
    "keys-out": { type: "string", description: "a new file for the secrets of new keys" },
  },
  failureCode: 1,
  run: async (input) => (await load()).runApply(input),
}

type Runs = Record<"runPlan" | "runApply", (input: CommandInput) => Promise<number | void>>

/** The schemas of all resources take half a second to load, which no other command should spend. */
const load = (): Promise<Runs> => import("../declared/run.ts")
