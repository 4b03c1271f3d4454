import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs"
import path from "node:path"
import { removeFolder } from "./remove-folder.ts"

const root = path.join(import.meta.dirname, "../..")

/** Modules of kubernetes-types, which are generated from the OpenAPI document of Kubernetes. */
const MODULES: Readonly<Record<string, string>> = { v1: "core/v1", "apps/v1": "apps/v1" }

/**
 * Type errors of resources, checked with the types of Kubernetes: unknown fields, wrong types and missing fields.
 */
export function faultsInResources(resources: readonly { apiVersion: string; kind: string }[]): string {
  const lines = resources.map((resource, index) => {
    const module = MODULES[resource.apiVersion]
    if (module === undefined) throw new Error(`No types of ${resource.apiVersion}`)
    const type = `import("kubernetes-types/${module}").${resource.kind}`
    return `export const resource${index}: ${type} = ${JSON.stringify(resource)}`
  })
  const parent = path.join(root, ".wrangler/test")
  mkdirSync(parent, { recursive: true })
  // Inside node_modules, so that imports resolve.
  const folder = mkdtempSync(path.join(parent, "kubernetes-"))
  try {
    const file = path.join(folder, "resources.ts")
    writeFileSync(file, lines.join("\n"))
    const options = [
      "--noEmit",
      "--strict",
      "--skipLibCheck",
      "--types",
      "",
      "--module",
      "esnext",
      "--moduleResolution",
      "bundler",
      "--ignoreConfig",
    ]
    const compiler = path.join(root, "node_modules/.bin/tsc")
    const { stdout, stderr, status } = spawnSync(compiler, [...options, file], { cwd: folder, encoding: "utf8" })
    return status === 0 ? "" : stdout + stderr
  } finally {
    removeFolder(folder)
  }
}
