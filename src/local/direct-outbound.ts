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
