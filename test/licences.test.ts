import { readdirSync, readFileSync } from "node:fs"
import path from "node:path"
import { describe, expect, test } from "vitest"

/** The packages that `npm ci` installs and that ship, by the lock file. */

const root = path.join(import.meta.dirname, "..")

type Package = {
  version?: string
  integrity?: string
  license?: string
  dev?: boolean
  optional?: boolean
  hasInstallScript?: boolean
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
}
const lock = JSON.parse(readFileSync(path.join(root, "package-lock.json"), "utf8")) as {
  packages: Record<string, Package>
}
const manifest = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as {
  dependencies: Record<string, string>
  devDependencies: Record<string, string>
  optionalDependencies: Record<string, string>
  allowScripts: Record<string, boolean>
}
const nameOf = (location: string) => location.slice(location.lastIndexOf("node_modules/") + "node_modules/".length)
const packages = Object.entries(lock.packages).filter(([location]) => location !== "")

/** Licences whose only condition is to keep the notice. */
const PERMISSIVE = new Set([
  "0BSD",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "BlueOak-1.0.0",
  "CC0-1.0",
  "ISC",
  "MIT",
  "Zlib",
  "Unlicense",
])

/** One licence of a choice is enough; of a combination, all are needed. */
function isPermissive(license = ""): boolean {
  const choices = license.replaceAll(/[()]/g, "").split(" OR ")
  return choices.some((choice) => choice.split(" AND ").every((one) => PERMISSIVE.has(one)))
}

/**
 * Optional native libraries of development tools and of the single-machine mode: loaded unmodified, never bundled, and
 * nothing requires them. sharp belongs to miniflare, node-liblzma to just-bash.
 */
const NATIVE_AND_OPTIONAL = /^(@img\/sharp-|node-liblzma$)/

describe("the lock file", () => {
  test("every package has an exact version and a hash", () => {
    const loose = packages.filter(([, { version = "", integrity = "" }]) => !/^\d/.test(version) || !integrity)
    expect(loose.map(([location]) => location)).toEqual([])
    const { dependencies, devDependencies, optionalDependencies } = manifest
    const ranges = Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies })
    expect(ranges.filter(([, range]) => !/^(npm:@?[\w/-]+@)?\d+\.\d+\.\d+/.test(range))).toEqual([])
  })

  test("no package runs an install script except the listed ones, which are disabled", () => {
    const withScript = packages.filter(([, { hasInstallScript }]) => hasInstallScript)
    const names = [...new Set(withScript.map(([location]) => nameOf(location)))].toSorted()
    // Each works without its script: npm installs the binary as a separate package, or nothing requires it.
    expect(names).toEqual(["@mongodb-js/zstd", "@openrouter/sdk", "esbuild", "node-liblzma", "protobufjs", "workerd"])
    expect(Object.values(manifest.allowScripts).filter(Boolean)).toEqual([])
    // For npm before 12, which does not read allowScripts.
    expect(readFileSync(path.join(root, ".npmrc"), "utf8")).toContain("ignore-scripts=true\n")
  })
})

describe("the licences", () => {
  test("shipped packages have a permissive licence", () => {
    const shipped = packages.filter(([, { dev }]) => !dev)
    const other = shipped.filter(([, { license }]) => !isPermissive(license))
    const wrong = other.filter(([location, { optional }]) => !optional || !NATIVE_AND_OPTIONAL.test(nameOf(location)))
    expect(wrong.map(([location, { license }]) => `${location}: ${license}`)).toEqual([])
  })

  test("packages in the console's bundle have a permissive licence", () => {
    const imported = new Set<string>()
    for (const file of readdirSync(path.join(root, "src/console"), { recursive: true, encoding: "utf8" })) {
      if (!/\.tsx?$/.test(file) || file.includes("vite")) continue
      const text = readFileSync(path.join(root, "src/console", file), "utf8")
      for (const [, name = ""] of text.matchAll(/(?:from|import\() ?"((?:@[^/"]+\/)?[a-z][^/"]*)/g)) imported.add(name)
    }
    const bundled = closureOf([...imported].filter((name) => `node_modules/${name}` in lock.packages))
    expect(bundled).toContain("preact")
    expect(bundled.filter((name) => !isPermissive(lock.packages[`node_modules/${name}`]?.license))).toEqual([])
  })
})

/** These packages and all their dependencies. */
function closureOf(names: readonly string[]): string[] {
  const found = new Set<string>()
  const waiting = [...names]
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (found.has(name)) continue
    found.add(name)
    waiting.push(...Object.keys(lock.packages[`node_modules/${name}`]?.dependencies ?? {}))
  }
  return [...found]
}
