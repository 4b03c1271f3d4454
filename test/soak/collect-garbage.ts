type Target = { webSocketDebuggerUrl?: string }

const TIMEOUT_MS = 5_000

/**
 * Collects the garbage of every isolate of a runtime through its inspector, so that only used memory remains: the
 * runtime itself collects it only when it needs the memory, which is late on a large machine.
 */
export async function collectGarbage(inspectorPort: number): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${inspectorPort}/json`, { signal: AbortSignal.timeout(TIMEOUT_MS) })
  const targets = (await response.json()) as Target[]
  for (const { webSocketDebuggerUrl: url } of targets) if (url !== undefined) await collect(url)
}

function collect(url: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = new WebSocket(url)
    const end = () => {
      clearTimeout(timer)
      socket.close()
      resolve()
    }
    const timer = setTimeout(end, TIMEOUT_MS)
    const commands = ["HeapProfiler.enable", "HeapProfiler.collectGarbage"]
    socket.addEventListener("open", () => {
      for (const [at, method] of commands.entries()) socket.send(JSON.stringify({ id: at + 1, method }))
    })
    socket.addEventListener("message", ({ data }) => {
      if (String(data).includes(`"id":${commands.length}`)) end()
    })
    socket.addEventListener("error", end)
  })
}
