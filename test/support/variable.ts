import { env } from "cloudflare:workers"
import { beforeAll } from "vitest"
import { clearConfig } from "../../src/config/config.ts"
import { clearDeployment } from "../../src/inference/context.ts"

type Variable =
  | "CLIENT_DIALECT"
  | "EARLY_COMMIT_MS"
  | "HOLD_TTL_MS"
  | "KEEPALIVE_MS"
  | "PROVIDER_STORAGE"
  | "UNPRICED_TOOLS"

/** Sets a variable of the deployment for the tests of a suite. */
export function useVariable(name: Variable, value: string): void {
  const clear = () => {
    clearConfig(env)
    clearDeployment(env)
  }
  beforeAll(() => {
    const before = env[name]
    env[name] = value
    clear()
    return () => {
      if (before === undefined) delete env[name]
      else env[name] = before
      clear()
    }
  })
}

/** Streams begin with status 200 after 150 ms, and get a heartbeat after 100 ms without an event. */
export function useShortHeartbeats(): void {
  useVariable("EARLY_COMMIT_MS", "150")
  useVariable("KEEPALIVE_MS", "100")
}
