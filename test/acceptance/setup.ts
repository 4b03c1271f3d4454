import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import type { TestProject } from "vitest/node"
import { readEnvFile } from "../../src/dev/start/dev-vars.ts"
import { root } from "../../src/dev/options.ts"
import { startContractProxy } from "./contract-proxy.ts"
import { end, npmStart } from "./npm-start.ts"
import { removeFolder } from "../support/remove-folder.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** `state`: the folder of its state. */
    gateway: { url: string; managementKey: string; apiKey: string; bootstrapKey: string; state: string }
  }
}

/**
 * One `npm start` for all clients, behind a proxy that checks its responses. Asserts at its end that no process is
 * left.
 */
export default async function startForAll(project: TestProject): Promise<() => Promise<void>> {
  const state = mkdtempSync(path.join(tmpdir(), "gateway-acceptance-"))
  const started = await npmStart(state)
  const bootstrapKey = readEnvFile(path.join(root, ".dev.vars"))["BOOTSTRAP_MANAGEMENT_KEY"] ?? ""
  const { managementKey, apiKey } = started
  const proxy = await startContractProxy(started.url)
  project.provide("gateway", { url: proxy.url, managementKey, apiKey, bootstrapKey, state })
  return async () => {
    await proxy.close()
    await end(started)
    removeFolder(state)
  }
}
