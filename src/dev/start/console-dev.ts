import path from "node:path"
import { createServer } from "vite"
import { root } from "../options.ts"

/** `npm run console:dev`: the console with hot reload. API paths go to GATEWAY_ORIGIN, by default http://127.0.0.1:8787. */
const port = Number(process.env["PORT"] ?? 5173)
const server = await createServer({ configFile: path.join(root, "src/console/vite.config.ts"), server: { port } })
await server.listen()
server.printUrls()
