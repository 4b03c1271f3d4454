import { spawn } from "node:child_process"
import path from "node:path"
import { setTimeout } from "node:timers/promises"
import { createServer } from "vite"
import { readOptions, root } from "./options.ts"

/** `npm run dev`: the gateway of `npm start`, and the console with hot reload in front of it. */
const { host, port } = readOptions(process.argv.slice(2), process.env)
const origin = `http://${host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host}:${port}`
const gateway = spawn(process.execPath, [path.join(import.meta.dirname, "start.ts"), ...process.argv.slice(2)], {
  stdio: "inherit",
})
gateway.on("exit", (code) => process.exit(code ?? 1))
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => gateway.kill(signal))

while (!(await isReady())) await setTimeout(200)
// The configuration of Vite reads it.
process.env["GATEWAY_ORIGIN"] = origin
const server = await createServer({
  configFile: path.join(root, "src/console/vite.config.ts"),
  server: { port: Number(process.env["PORT"] ?? 5173) },
})
await server.listen()
console.log("\n  The console with hot reload:")
server.printUrls()

function isReady(): Promise<boolean> {
  return fetch(`${origin}/ready`).then(
    ({ ok }) => ok,
    () => false,
  )
}
