import { readdirSync, readFileSync } from "node:fs"
import path from "node:path"
import { expect, test } from "vitest"

const root = path.join(import.meta.dirname, "../..")

test("Durable Objects are opened in one file, which applies the jurisdiction", () => {
  const files = ["src", "durable-objects"].flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => path.join(folder, name)),
  )
  const opening = files.filter((file) =>
    /\b(?:idFromName|idFromString|newUniqueId|getByName)\(/.test(readFileSync(path.join(root, file), "utf8")),
  )
  expect(opening).toEqual(["src/config/objects.ts"])
})
