import { CORE_PLUGIN } from "miniflare"

/**
 * Lets clients reach a Worker of every Miniflare that is created afterwards, at an address. Miniflare's option for it
 * (`unsafeDirectSockets`) reads `request.cf` from a header that any client could send; without that header workerd
 * states the address of the connection. An upgrade of Miniflare must check it.
 */
export function useClientSocket(worker: string, { host, port }: { host: string; port: number }): void {
  const getServices = CORE_PLUGIN.getServices.bind(CORE_PLUGIN)
  const socket = {
    name: "clients",
    address: `${host.includes(":") ? `[${host}]` : host}:${port}`,
    service: { name: `core:user:${worker}` },
    http: {},
  }
  CORE_PLUGIN.getServices = async (options) => {
    const services = await getServices(options)
    const extended = Array.isArray(services) ? { services, extensions: [] } : services
    return extended && { ...extended, sockets: [...(extended.sockets ?? []), socket] }
  }
}
