import { CORE_PLUGIN } from "miniflare"

/**
 * Lets every Worker of this process reach the network directly. Miniflare puts another Worker in between, which doubles
 * what a call costs. It has no option for this; an upgrade of Miniflare must check it.
 */
export function useDirectOutbound(): void {
  const getServices = CORE_PLUGIN.getServices.bind(CORE_PLUGIN)
  CORE_PLUGIN.getServices = async (options) => {
    const made = await getServices(options)
    const services = Array.isArray(made) ? made : (made?.services ?? [])
    for (const service of services) {
      const worker = "worker" in service ? service.worker : undefined
      if (worker?.globalOutbound?.name?.startsWith("outbound:")) worker.globalOutbound = { name: "internet" }
    }
    return made
  }
}
