import { builtInProviders, PROVIDER_VARIABLES } from "../../providers/table.ts"
import { GENERATED } from "../start/dev-vars.ts"

/** Prompts a person; undefined without a terminal, as in CI. */
export type Prompt = ((question: string) => Promise<string>) | undefined

export type Secrets = Record<string, string>

type Required = { name: keyof typeof GENERATED; question: string }

const REQUIRED: readonly Required[] = [
  {
    name: "MASTER_KEY",
    question:
      "MASTER_KEY seals the secrets in the database. Paste the key of an existing gateway, or press Enter to generate one: ",
  },
  {
    name: "BOOTSTRAP_MANAGEMENT_KEY",
    question: "BOOTSTRAP_MANAGEMENT_KEY is the operator's key. Press Enter to generate one, or paste your own: ",
  },
]

/**
 * Secrets to upload with a first deploy: required secrets that the Worker lacks, and keys of providers. They are read
 * from the environment, or prompted for once. `present`: names of the Worker's secrets.
 */
export async function secretsToUpload(
  present: ReadonlySet<string>,
  environment: NodeJS.Dict<string>,
  prompt: Prompt,
): Promise<{ secrets: Secrets; generated: string[]; missing: string[] }> {
  const [secrets, generated, missing]: [Secrets, string[], string[]] = [{}, [], []]
  const lacking = REQUIRED.filter(({ name }) => !present.has(name))
  for (const { name, question } of lacking) {
    const value = environment[name] ?? (prompt && (await prompt(question)))
    if (value) secrets[name] = value
    else if (prompt) {
      secrets[name] = GENERATED[name]()
      generated.push(name)
    } else missing.push(name)
  }
  if (lacking.length > 0) Object.assign(secrets, await providerKeys(environment, prompt))
  return { secrets, generated, missing }
}

const PROVIDERS_QUESTION = "A provider's key, such as OPENAI_API_KEY=sk-… (Enter to continue): "

/** No provider key is taken from CI's environment, whose keys are for the build. */
async function providerKeys(environment: NodeJS.Dict<string>, prompt: Prompt): Promise<Secrets> {
  const keys: Secrets = {}
  const known = new Set([...builtInProviders.map(({ secret }) => secret), ...PROVIDER_VARIABLES])
  let question = PROVIDERS_QUESTION
  for (;;) {
    const line = ((await prompt?.(question)) ?? "").trim()
    if (line === "") return keys
    const [, name = "", value = ""] = /^(\w+)=(.+)$/.exec(line) ?? []
    const resolved = value.startsWith("$") ? (environment[value.slice(1)] ?? "") : value
    if (known.has(name) && resolved !== "") keys[name] = resolved
    question = known.has(name)
      ? PROVIDERS_QUESTION
      : `${name || line} is not a variable of a provider. Name one in docs/configuration.md, or press Enter: `
  }
}

/** Message about the secrets. Generated values are shown once: they are stored nowhere else. */
export function describeSecrets(outcome: { secrets: Secrets; generated: string[]; missing: string[] }): string {
  const { secrets, generated, missing } = outcome
  const lines = generated.map((name) => `  ${name}=${secrets[name]}`)
  return [
    ...(lines.length > 0 ? ["Generated, and not shown again. Store them like passwords:", ...lines] : []),
    ...missing.map(
      (name) =>
        `${name} is missing: the gateway returns 503 until you run npx wrangler secret put ${name} --env production`,
    ),
  ].join("\n")
}
