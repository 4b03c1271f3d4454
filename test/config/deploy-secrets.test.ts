import { readFileSync } from "node:fs"
import path from "node:path"
import { parseEnv } from "node:util"
import { expect, test } from "vitest"
import { describeSecrets, secretsToUpload } from "../../src/dev/deploy/deploy-secrets.ts"

const root = path.join(import.meta.dirname, "../..")
const NONE: ReadonlySet<string> = new Set()

/** Gives these answers in order, then Enter. */
function person(...answers: string[]) {
  const questions: string[] = []
  const prompt = async (question: string) => (questions.push(question), answers.shift() ?? "")
  return { prompt, questions }
}

test("Enter generates both secrets, which are shown once, and a provider's key is accepted", async () => {
  const { prompt, questions } = person("", "", "openai", "OPENAI_API_KEY=sk-vendor", "GROQ_API_KEY=$MY_GROQ")
  const outcome = await secretsToUpload(NONE, { MY_GROQ: "sk-groq" }, prompt)
  const { MASTER_KEY: master = "", BOOTSTRAP_MANAGEMENT_KEY: bootstrap = "", ...providers } = outcome.secrets
  expect(Buffer.from(master, "base64")).toHaveLength(32)
  expect(bootstrap.length).toBeGreaterThanOrEqual(32)
  expect(providers).toEqual({ OPENAI_API_KEY: "sk-vendor", GROQ_API_KEY: "sk-groq" })
  expect(questions).toHaveLength(6)
  expect(questions[3]).toContain("openai is not a variable of a provider")
  const shown = describeSecrets(outcome)
  expect(shown).toContain(`MASTER_KEY=${master}`)
  expect(shown).toContain(`BOOTSTRAP_MANAGEMENT_KEY=${bootstrap}`)
  expect(shown).not.toContain("sk-vendor")
})

test("a pasted key is accepted and not shown", async () => {
  const outcome = await secretsToUpload(NONE, {}, person("former", "boot").prompt)
  expect(outcome).toEqual({
    secrets: { MASTER_KEY: "former", BOOTSTRAP_MANAGEMENT_KEY: "boot" },
    generated: [],
    missing: [],
  })
  expect(describeSecrets(outcome)).toBe("")
})

test("a Worker that has its secrets prompts for nothing", async () => {
  const { prompt, questions } = person()
  const present = new Set(["MASTER_KEY", "BOOTSTRAP_MANAGEMENT_KEY"])
  const outcome = await secretsToUpload(present, { MASTER_KEY: "of the shell", OPENAI_API_KEY: "of the shell" }, prompt)
  expect([outcome, questions]).toEqual([{ secrets: {}, generated: [], missing: [] }, []])
})

test("without a terminal, secrets come from the environment and missing ones are reported", async () => {
  const outcome = await secretsToUpload(NONE, { MASTER_KEY: "of CI", OPENAI_API_KEY: "of CI" }, undefined)
  expect(outcome).toEqual({ secrets: { MASTER_KEY: "of CI" }, generated: [], missing: ["BOOTSTRAP_MANAGEMENT_KEY"] })
  expect(describeSecrets(outcome)).toContain("npx wrangler secret put BOOTSTRAP_MANAGEMENT_KEY --env production")
})

test("the deploy button's page lists the same secrets, each described and without a value", () => {
  const example = parseEnv(readFileSync(path.join(root, ".dev.vars.example"), "utf8"))
  expect(example).toEqual({ MASTER_KEY: "", BOOTSTRAP_MANAGEMENT_KEY: "" })
  const manifest = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as {
    cloudflare: { bindings: Record<string, { description: string }> }
  }
  expect(Object.keys(manifest.cloudflare.bindings).toSorted()).toEqual(Object.keys(example).toSorted())
})
