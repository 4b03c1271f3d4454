import { globSync } from "node:fs"
import path from "node:path"
import { build, type Plugin } from "vite"
import { chosenMutant } from "./mutants/chosen.ts"
import { markdownAsText } from "./support/markdown.ts"
import { wasmAsModule } from "./support/wasm.ts"

const root = path.join(import.meta.dirname, "..")

/** The folder of the bundle: a test has the same path below it as below the root, so filters by path work. */
const FOLDER = ".wrangler/test/worker"
/** The runtime loads these itself; test files and their shared code go through Vitest, which maps their stacks. */
const LOADED_BY_RUNTIME = `${FOLDER}/chunks/(?!support)`

const setup = ["test/support/resolve-once.ts", "test/support/properties.ts", "test/support/migrate.ts"]
const main = "src/index.ts"
const inRoot = (file: string) => path.join(root, file)

/** The bundled file of a source file. */
export const bundled = (file: string): string => path.join(root, FOLDER, file)

export const bundledMain = bundled(main)
export const bundledSetup = setup.map(bundled)

export const workerTests = (): string[] => globSync("test/**/*.worker.test.ts", { cwd: root })

/**
 * Bundles the Worker and its tests once, so that no worker of Vitest transforms sources: a test file starts within a second,
 * and calls between modules cost what they cost in production.
 */
export function workerBundle(tests: string[]): Plugin {
  return {
    name: "worker-bundle",
    config(config) {
      // After the pool's plugin, which makes Vitest load every module.
      const server = ((config.test ??= {}).server ??= {})
      server.deps = {
        ...server.deps,
        inline: [new RegExp(`^(?!.*${LOADED_BY_RUNTIME})`)],
        external: [new RegExp(LOADED_BY_RUNTIME)],
      }
    },
    configureVitest: () => buildBundle(tests),
  }
}

async function buildBundle(tests: string[]): Promise<void> {
  await build({
    root,
    logLevel: "error",
    configFile: false,
    plugins: [...chosenMutant(), markdownAsText(), wasmAsModule("runtime")],
    resolve: { conditions: ["workerd", "worker", "module", "browser"] },
    ssr: { noExternal: true, target: "webworker" },
    build: {
      ssr: true,
      target: "esnext",
      minify: false,
      sourcemap: true,
      emptyOutDir: true,
      outDir: inRoot(FOLDER),
      rolldownOptions: {
        external: [/^cloudflare:/, /^node:/, "vitest"],
        input: Object.fromEntries([main, ...setup, ...tests].map((file) => [file, inRoot(file)])),
        output: {
          format: "es",
          entryFileNames: "[name]",
          chunkFileNames: "chunks/[name].js",
          codeSplitting: {
            groups: [
              { name: "gateway", test: /\/(?:src|durable-objects)\/[^?]*\.(?:ts|md)$/, priority: 3 },
              { name: "libraries", test: /\/node_modules\//, priority: 4 },
              { name: "support", test: /\/test\/(?!.*\.worker\.test\.ts$)/, priority: 2 },
            ],
          },
        },
      },
    },
  })
}
