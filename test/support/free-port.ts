import { randomInt } from "node:crypto"
import { once } from "node:events"
import net from "node:net"

/** Below the ephemeral port range, which other suites use. */
const FIRST = 20_000
const LAST = 30_000

/** A free port for a program that needs seconds to start listening. */
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
