import { lookup } from "node:dns/promises"
import { once } from "node:events"
import net from "node:net"
import { isPublicAddress } from "../../outbound/address.ts"

/** Opens a connection, or rejects with an AddressError if the address is not public. */
export type Connect = (host: string, port: number) => Promise<net.Socket>

/** Why a connection was not opened, for the agent. */
export class AddressError extends Error {
  override readonly name = "AddressError"
}

export type Resolve = (host: string) => Promise<string[]>

export const systemResolve: Resolve = async (host) =>
  (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address)

const TIMEOUT_MS = 15_000

/**
 * Connects only to public addresses. The name is resolved once and the checked address is used, so DNS rebinding has no
 * effect.
 */
export function publicConnect(resolve: Resolve = systemResolve): Connect {
  return async (host, port) => {
    const addresses = net.isIP(host) === 0 ? await resolve(host).catch(() => []) : [host]
    if (addresses.length === 0) throw new AddressError("The name of the host could not be resolved.")
    if (!addresses.every(isPublicAddress)) throw new AddressError("The address of the host is not public.")
    return open(addresses[0] ?? "", port)
  }
}

export async function open(address: string, port: number): Promise<net.Socket> {
  const socket = net.connect({ host: address, port })
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error("The connection took too long.")))
  await once(socket, "connect")
  socket.setTimeout(0)
  return socket
}
