import { env } from "cloudflare:workers"
import { beforeAll } from "vitest"
import { clearConfig } from "../../src/config/config.ts"
import { clearDeployment } from "../../src/inference/context.ts"

/** Sets a variable of the deployment for the tests of a suite. */
export function useVariable(name: "HOLD_TTL_MS" | "PROVIDER_STORAGE" | "UNPRICED_TOOLS", value: string): void {
  const clear = () => {
    clearConfig(env)
    clearDeployment(env)
  }
  beforeAll(() => {
    env[name] = value
    clear()
    return () => {
      delete env[name]
      clear()
    }
  })
}
