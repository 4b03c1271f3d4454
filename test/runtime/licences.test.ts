import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { metafile } from "./bundle.ts"

test("the Worker's bundle contains no optional native library with a restrictive licence", () => {
  const { inputs } = JSON.parse(readFileSync(metafile, "utf8")) as { inputs: Record<string, unknown> }
  const files = Object.keys(inputs)
  expect(files.some((file) => file.includes("node_modules/hono/"))).toBe(true)
  expect(files.filter((file) => /node_modules\/(@img|sharp|node-liblzma)\//.test(file))).toEqual([])
})
