import path from "node:path"
import { build } from "vite"
import { markdownAsText } from "./markdown.ts"

const root = path.join(import.meta.dirname, "../..")

/** The embedded upstream as one module, because a second Worker of the test pool is a built script. */
export default async function buildEmbedded(): Promise<void> {
  await build({
    root,
    logLevel: "warn",
    configFile: false,
    plugins: [markdownAsText()],
    build: {
      lib: { entry: path.join(root, "src/embedded/index.ts"), formats: ["es"], fileName: () => "embedded.js" },
      outDir: path.join(root, ".wrangler/test"),
      emptyOutDir: false,
      minify: false,
    },
  })
}
