import { randomInt } from "node:crypto"
import { once } from "node:events"
import net from "node:net"

/** Below the ports that the system assigns itself, which other suites use all the time. */
const FIRST = 20_000
const LAST = 30_000

/** A port of this computer for a program that takes seconds to listen on it. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, LAST)
    const server = net.createServer()
    const isFree = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false))
      server.listen(port, "127.0.0.1", () => resolve(true))
    })
    if (!isFree) continue
    server.close()
    await once(server, "close")
    return port
  }
}
