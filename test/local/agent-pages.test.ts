import { readFileSync } from "node:fs"
import path from "node:path"
import { describe, expect, test } from "vitest"
import { setupOf } from "../../src/daemon/agent/agents.ts"
import { AGENT_CONFIG } from "../support/agent-config.ts"

const docs = path.join(import.meta.dirname, "../../docs")
const read = (name: string) => readFileSync(path.join(docs, name), "utf8")

/** The row of an agent in the table that `test/daemon/capabilities.test.ts` measures. */
function rowOf(agent: string): string[] {
  const line = read("daemon.md")
    .split("\n")
    .find((one) => one.startsWith(`| \`${agent}\``) && one.includes("allow_once"))
  return (line ?? "").split("|").map((cell) => cell.trim().replaceAll("`", ""))
}

describe.each(["opencode", "qwen", "gemini", "codex", "claude"])("the page of %s", (agent) => {
  const page = read(`agents/${agent}.md`)
  const text = page.replaceAll(/\s+/g, " ")
  const [, , name = "", version = "", loads, steering, mcp, shows, answers = ""] = rowOf(agent)
  const {
    argv,
    env,
    files,
    sessionMode,
    package: npmPackage,
  } = setupOf([agent], AGENT_CONFIG, { home: "/intern/home" })

  test("installs the tested package and version", () => {
    expect(name).toBe(npmPackage)
    expect(text).toContain(`Tested with \`${name}\` ${version}.`)
    expect(page).toContain(`npm install -g ${name}@${version}\n`)
    expect(page).toContain(`--agent ${agent}\n`)
  })

  test("has the command, the files and the mode that the daemon uses", () => {
    expect(text).toContain(`\`${argv.join(" ")}\``)
    for (const file of Object.keys(files)) expect(text).toContain(`\`${path.basename(file)}\``)
    for (const variable of Object.keys(env).filter((one) => /KEY|URL|TOKEN|MODEL$|HOME/.test(one))) {
      expect(text).toContain(`\`${variable}\``)
    }
    if (sessionMode !== undefined) expect(text).toContain(`the mode \`${sessionMode}\``)
  })

  test("agrees with the measured capabilities", () => {
    const listed = answers.split(", ").map((answer) => `\`${answer}\``)
    expect(text).toContain(`Answers: ${listed.join(", ")}`)
    expect(shows).toBe("exact command")
    expect(text).toContain("shows the exact command")
    expect([loads, mcp]).toEqual(["yes", "yes"])
    expect(text.includes("has steering")).toBe(steering === "yes")
    expect(text.includes("no steering")).toBe(steering === "no")
  })
})

test("the page of opencode lists every tool that runs without a question", () => {
  const { files } = setupOf(["opencode"], AGENT_CONFIG, { home: "/intern/home" })
  const { permission } = JSON.parse(files["/intern/home/opencode.json"] ?? "") as { permission: Record<string, string> }
  const allowed = Object.entries(permission).flatMap(([tool, rule]) => (rule === "allow" ? [`\`${tool}\``] : []))
  expect(read("agents/opencode.md").replaceAll(/\s+/g, " ")).toContain(allowed.join(", "))
})
