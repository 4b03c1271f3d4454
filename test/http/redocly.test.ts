import { spawnSync } from "node:child_process"
import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { expect, test } from "vitest"
import { api } from "../../src/app/app.ts"
import { describeApi } from "../../src/http/openapi.ts"
import { removeFolder } from "../support/remove-folder.ts"

/**
 * Rules that the API deliberately breaks, because a document that satisfied them would be wrong: these operations have
 * no error that a client's request could cause, or no 2xx response.
 */
const EXCEPTIONS = [
  "operation-2xx-response GET /console/sign-in/callback", // Redirects: 302.
  "operation-2xx-response GET /console/sign-in/oidc", // Redirects: 302.
  "operation-2xx-response GET /interns/{internId}/daemon/attach", // A WebSocket: 101.
  "operation-2xx-response GET /realtime", // A WebSocket: 101.
  "operation-2xx-response POST /credits/vendor", // Removed: 410.
  "operation-4xx-response DELETE /console/session",
  "operation-4xx-response GET /console/sign-in",
  "operation-4xx-response GET /endpoints/zdr",
  "operation-4xx-response GET /images/models",
  "operation-4xx-response GET /oauth/jwks",
  "operation-4xx-response GET /providers",
  "operation-4xx-response GET /videos/models",
]

type Problem = { ruleId: string; message: string; location: { pointer?: string }[] }

function operationOf(pointer = ""): string {
  const [, , resource = "", method = ""] = pointer.split("/").map((part) => part.replaceAll("~1", "/"))
  return `${method.toUpperCase()} ${resource}`
}

test("the API document passes the rules that Redocly recommends", () => {
  const root = path.join(import.meta.dirname, "../..")
  const folder = mkdtempSync(path.join(tmpdir(), "gateway-redocly-"))
  try {
    const file = path.join(folder, "openapi.json")
    writeFileSync(file, JSON.stringify(describeApi(api)))
    const program = path.join(root, "node_modules/@redocly/cli/bin/cli.js")
    const options = [
      "--config",
      path.join(import.meta.dirname, "redocly.yaml"),
      "--format",
      "json",
      "--max-problems",
      "1000",
    ]
    const env = {
      PATH: process.env["PATH"],
      HOME: folder,
      REDOCLY_TELEMETRY: "off",
      REDOCLY_SUPPRESS_UPDATE_NOTICE: "true",
      CI: "true",
    }
    const { stdout, stderr } = spawnSync(process.execPath, [program, "lint", file, ...options], {
      encoding: "utf8",
      env,
    })
    expect(stdout, stderr).toContain("{")
    const { problems } = JSON.parse(stdout.slice(stdout.indexOf("{"))) as { problems: Problem[] }
    const found = problems.map(({ ruleId, location: [at] }) => `${ruleId} ${operationOf(at?.pointer)}`)
    expect(found.toSorted()).toEqual(EXCEPTIONS)
  } finally {
    removeFolder(folder)
  }
})
