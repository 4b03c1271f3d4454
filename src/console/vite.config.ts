import path from "node:path"
import { defineConfig, type Plugin } from "vite"
import packageJson from "../../package.json" with { type: "json" }

/**
 * Paths that the dev server proxies to the gateway under its own host, since sessions belong to one origin. `/api/v1` and not
 * `/api`, which is also a folder of the console.
 */
const API_PATHS = ["/api/v1", "/console/session", "/console/sign-in", "/auth", "/connect", "/health", "/ready"]
const gateway = process.env["GATEWAY_ORIGIN"] ?? "http://127.0.0.1:8787"

const SHARED = /\/src\/console\/(?:(?:api|format|state|ui|shell)\/|(?:app|start)\.tsx)/
/** Large, and needed by few pages. */
const ON_DEMAND = /\/(?:uplot|markdown|markdown-blocks|model-picker)\.tsx?$/
/** Runs before the shell is compiled. */
const FIRST = /\/(?:api\/first-session|state\/paths|console\/routes)\.ts$|vite\/preload-helper/
const SHELL = "index"

function isShared(id: string): boolean {
  return SHARED.test(id) && !ON_DEMAND.test(id) && !FIRST.test(id)
}

/** Preloads the shell instead of waiting for the import of the first script. */
const preloadShell: Plugin = {
  name: "preload-shell",
  transformIndexHtml: {
    order: "post",
    handler: (html, { bundle = {} }) => {
      const shell = Object.values(bundle).find((file) => file.type === "chunk" && file.name === SHELL && !file.isEntry)
      if (!shell) return html
      const attrs = { rel: "modulepreload", crossorigin: true, href: `/${shell.fileName}` }
      return { html, tags: [{ tag: "link", attrs, injectTo: "head" }] }
    },
  },
}

/** Intl formatters that uPlot creates at load and the console never uses; the first formatter of a page is slow. */
const FORMATTERS = [
  ["new Intl.NumberFormat(domEnv ? nav.language : 'en-US')", "{ format: (value) => String(value) }"],
  ["new Intl.DateTimeFormat().resolvedOptions().timeZone", "undefined"],
] as const

const withoutFormatters: Plugin = {
  name: "uplot-without-formatters",
  transform: {
    filter: { id: /uPlot\.esm\.js$/ },
    handler: (code) =>
      FORMATTERS.reduce((text, [original, replacement]) => {
        if (!text.includes(original)) throw new Error(`uPlot no longer has ${original}: see vite.config.ts.`)
        return text.replace(original, replacement)
      }, code),
  },
}

/** With this comment, Chromium compiles all functions of a file off the main thread instead of at their first call. */
const COMPILE_HINT = "//# allFunctionsCalledOnLoad\n"

const compileHint: Plugin = {
  name: "compile-hint",
  enforce: "post",
  generateBundle: {
    order: "post",
    handler: (_, bundle) => {
      for (const file of Object.values(bundle)) if (file.type === "chunk") file.code = COMPILE_HINT + file.code
    },
  },
}

export default defineConfig({
  root: import.meta.dirname,
  define: { GATEWAY_VERSION: JSON.stringify(packageJson.version) },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  plugins: [preloadShell, withoutFormatters, compileHint],
  build: {
    outDir: path.join(import.meta.dirname, "../../dist/console"),
    emptyOutDir: true,
    target: "es2023",
    modulePreload: { polyfill: false },
    // A data: URL would need a wider content security policy.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rolldownOptions: {
      // Modules shared by most pages are in one chunk with the shell: a request costs more than the saved bytes.
      output: {
        codeSplitting: {
          groups: [
            { name: "first", test: FIRST, priority: 1 },
            { name: SHELL, test: isShared },
          ],
        },
      },
    },
  },
  server: {
    host: "127.0.0.1",
    proxy: Object.fromEntries(API_PATHS.map((path) => [path, { target: gateway }])),
  },
})
