import { getCACertificates } from "node:tls"
import { CORE_PLUGIN } from "miniflare"

/**
 * Lets every Worker of this process access the network directly. Miniflare uses another Worker for this, which doubles
 * the cost of a call. It has no option for it; an upgrade of Miniflare must check it.
 */
export function useDirectOutbound(): void {
  const getServices = CORE_PLUGIN.getServices.bind(CORE_PLUGIN)
  CORE_PLUGIN.getServices = async (options) => {
    const allServices = await getServices(options)
    const services = Array.isArray(allServices) ? allServices : (allServices?.services ?? [])
    for (const service of services) {
      const worker = "worker" in service ? service.worker : undefined
      if (worker?.globalOutbound?.name?.startsWith("outbound:")) worker.globalOutbound = { name: "internet" }
    }
    return allServices
  }
}

/**
 * For URLs of clients. `fetch` here also connects to private addresses, for providers on this machine: a name whose
 * address changes between check and connection (DNS rebinding) would reach them.
 */
export const PUBLIC_NETWORK = {
  network: {
    allow: ["public"],
    // NODE_EXTRA_CA_CERTS, as for `fetch`.
    tlsOptions: { trustBrowserCas: true, trustedCertificates: getCACertificates("extra") },
  },
}
