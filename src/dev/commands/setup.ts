import { readFileSync } from "node:fs"
import path from "node:path"
import { Failure } from "../failure.ts"
import { root } from "../options.ts"
import { type Command, number, print, text } from "./command.ts"

type Organization = { id: string; workspace_id: string; management_key: string; api_key: string }
type Written = { models: number; endpoints: number; removed_models: number; removed_endpoints: number }
const SEED = path.join(root, "src/models/seed.json")

/** Creates the first organization of a deployment and shows its models. */
export const init: Command = {
  name: "init",
  summary:
    "Sets up a deployed gateway: the shipped catalogue and the first organization. Its two keys are printed once.\nNeeds BOOTSTRAP_MANAGEMENT_KEY in the environment.",
  takes: ["[NAME]"],
  options: {
    balance: { type: "string", description: "initial balance in USD (default: 0)" },
    "owner-email": { type: "string", description: "the email address of its owner" },
    another: { type: "boolean", description: "create another one if there is one already" },
  },
  async run(input) {
    const { api, positionals, values } = input
    const [name = "Default"] = positionals
    type Home = { data: { organization_id: string | null } }
    const { data: operatorKey } = await api.as<Home>("operator", "GET", "/key")
    if (operatorKey.organization_id !== null && values["another"] !== true) {
      throw new Failure(
        `There is an organization already: ${operatorKey.organization_id}. --another creates another one.`,
      )
    }
    if (operatorKey.organization_id === null) await api.as("operator", "PUT", "/catalogue", readFileSync(SEED, "utf8"))
    const email = text(input, "owner-email")
    const body = { name, starting_balance_usd: number(input, "balance") ?? 0, ...(email && { owner_email: email }) }
    const { data } = await api.as<{ data: Organization }>("operator", "POST", "/organizations", body)
    print(
      input,
      data,
      `The organization ${name} is created. These keys are not shown again:

  Organization     ${data.id}
  Workspace        ${data.workspace_id}
  Management key   ${data.management_key}
  API key          ${data.api_key}`,
    )
  },
}

export const providers: Command = {
  name: "providers",
  summary: "Lists the providers with a configured key or base URL.",
  takes: [],
  options: {},
  async run(input) {
    type Listing = { data: { slug: string; name: string }[] }
    const response = await input.api.open<Listing>("/providers")
    print(
      input,
      response,
      response.data.map(({ slug, name }) => `${slug.padEnd(24)}${name}`).join("\n") || "No provider is configured yet.",
    )
  },
}

export const catalogueUpdate: Command = {
  name: "catalogue update",
  summary:
    "Updates models and prices of the catalogue from the shipped list or a file. Models that are no longer shipped are removed. Prices set by the operator stay.",
  takes: ["[FILE]"],
  options: {},
  async run(input) {
    const [file = SEED] = input.positionals
    const body = read(file)
    const response = await input.api.as<{ data: Written }>("operator", "PUT", "/catalogue", body)
    const { models, endpoints, removed_models: goneModels, removed_endpoints: goneEndpoints } = response.data
    const date = /"date":"([\d-]{10})"/.exec(body.slice(0, 200))?.[1]
    const removed = goneEndpoints > 0 ? ` Removed: ${goneModels} models and ${goneEndpoints} endpoints.` : ""
    const shipped = date === undefined ? "" : ` of ${date}`
    print(
      input,
      response,
      `The catalogue is up to date: ${models} models with ${endpoints} endpoints${shipped}.${removed}`,
    )
  },
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8")
  } catch {
    throw new Failure(`${file} cannot be read.`, 2)
  }
}

export const cataloguePrice: Command = {
  name: "catalogue price",
  summary: "Sets the operator's price in USD per token, or disables or enables an endpoint.",
  takes: ["MODEL", "PROVIDER"],
  options: {
    prompt: { type: "string", description: "USD per prompt token, such as 0.000001" },
    completion: { type: "string", description: "USD per completion token" },
    off: { type: "boolean", description: "disable the endpoint" },
    on: { type: "boolean", description: "enable the endpoint" },
  },
  async run(input) {
    const { api, positionals, values } = input
    const [model, provider] = positionals
    const [prompt, completion] = [text(input, "prompt"), text(input, "completion")]
    if ((prompt === undefined) !== (completion === undefined)) {
      throw new Failure("--prompt and --completion go together.", 2)
    }
    const [isOff, isOn] = [values["off"] === true, values["on"] === true]
    if (prompt === undefined && isOff === isOn) {
      throw new Failure("Set --prompt and --completion, --off or --on.", 2)
    }
    const body = {
      model,
      provider,
      ...(prompt !== undefined && { pricing: { prompt, completion } }),
      ...(isOff !== isOn && { disabled: isOff }),
    }
    const response = await api.as("operator", "PATCH", "/catalogue/endpoints", body)
    print(input, response, `${model} by ${provider} is changed.`)
  },
}
