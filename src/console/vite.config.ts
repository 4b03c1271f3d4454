import path from "node:path"
import { defineConfig, type Plugin } from "vite"

/**
 * Paths that the dev server passes on to the gateway, under its own host: sessions are of one origin. `/api/v1` and not
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

/** The page asks for the shell at once, and not when the first script imports it. */
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

/** What uPlot makes as it is loaded and charts of the console never use; the first formatter of a page is slow. */
const FORMATTERS = [
  ["new Intl.NumberFormat(domEnv ? nav.language : 'en-US')", "{ format: (value) => String(value) }"],
  ["new Intl.DateTimeFormat().resolvedOptions().timeZone", "undefined"],
] as const

const withoutFormatters: Plugin = {
  name: "uplot-without-formatters",
  transform: {
    filter: { id: /uPlot\.esm\.js$/ },
    handler: (code) =>
      FORMATTERS.reduce((text, [made, instead]) => {
        if (!text.includes(made)) throw new Error(`uPlot no longer has ${made}: see vite.config.ts.`)
        return text.replace(made, instead)
      }, code),
  },
}

/** Chromium compiles a file that begins with it beside the page's thread, and not each function at its first call. */
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
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  plugins: [preloadShell, withoutFormatters, compileHint],
  build: {
    outDir: path.join(import.meta.dirname, "../../dist/console"),
    emptyOutDir: true,
    target: "es2023",
    modulePreload: { polyfill: false },
    // A data: URL would need a wider policy than the files have.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rolldownOptions: {
      // What most pages share is one file with the shell: each request costs more than the bytes that a page could spare.
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
