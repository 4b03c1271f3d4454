import type { VisibleSecret } from "../../vault/secret.ts"
import type { Authority } from "./authority.ts"
import type { Connect } from "./connect.ts"
import type { Egress } from "./egress.ts"

export type ProxyDeps = {
  authority: Authority
  /** The current secrets, whose hosts are intercepted. */
  secrets: () => readonly Pick<VisibleSecret, "hosts">[]
  egress: Egress
  /** Called if the gateway has no secret for an intercepted host. */
  onUnbound: () => void
  gateway: URL
  /** Allowed hosts, in addition to the gateway and the hosts of secrets; undefined for all public hosts. */
  allowedHosts: readonly string[] | undefined
  connect: Connect
}
