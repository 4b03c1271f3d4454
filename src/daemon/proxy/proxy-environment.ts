import path from "node:path"
import { rootCertificates } from "node:tls"
import type { Folder } from "../files/folder.ts"
import type { Authority } from "./authority.ts"

type ProxyEnvironment = {
  proxy: URL
  authority: Authority
  gateway: URL
  /** Additional certificates that the daemon itself trusts, in PEM. */
  trusted: string
}

/** Variables and files that make most programs of an agent use and trust the proxy. */
export function proxyEnvironment(
  { home }: Folder,
  { proxy, authority: { certificate }, gateway, trusted }: ProxyEnvironment,
): { env: Record<string, string>; files: Record<string, string> } {
  const bundle = path.join(home, "egress-ca.pem")
  const all = path.join(home, "ca-bundle.pem")
  const href = proxy.href.replace(/\/$/, "")
  const proxied = { HTTPS_PROXY: href, HTTP_PROXY: href }
  // A gateway with plain http is on this machine. One with https is reached like any other host.
  const direct = gateway.protocol === "http:" ? { NO_PROXY: gateway.hostname } : { NO_PROXY: "" }
  const lower = Object.entries({ ...proxied, ...direct }).map(([name, value]) => [name.toLowerCase(), value] as const)
  return {
    env: {
      ...proxied,
      ...direct,
      ...Object.fromEntries(lower),
      // Adds to the default certificates.
      NODE_EXTRA_CA_CERTS: bundle,
      NODE_USE_ENV_PROXY: "1",
      // Replaces the default certificates.
      SSL_CERT_FILE: all,
      GIT_SSL_CAINFO: all,
      REQUESTS_CA_BUNDLE: all,
      CURL_CA_BUNDLE: all,
    },
    files: { [bundle]: certificate + trusted, [all]: [...rootCertificates, certificate + trusted].join("\n") },
  }
}
