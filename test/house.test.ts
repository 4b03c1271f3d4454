import { expect, test } from "vitest"

const sources = import.meta.glob<string>(["../src/**/*.ts", "../durable-objects/**/*.ts"], {
  query: "?raw",
  import: "default",
  eager: true,
})
const files = Object.entries(sources).map(([path, text]) => ({ path: path.slice(3), text }))

/** Files that match `where` and import what only `home` may. */
function strays(pattern: RegExp, home: RegExp): string[] {
  return files.filter(({ path, text }) => pattern.test(text) && !home.test(path)).map(({ path }) => path)
}

test("no file is longer than 300 lines", () => {
  const long = files.filter(({ text }) => text.split("\n").length > 300)
  expect(long.map(({ path }) => path)).toEqual([])
})

test("HTTP stays at the edge", () => {
  const home =
    /^src\/(http|access|app)\/|routes\.ts$|schemas\.ts$|^src\/inference\/context\.ts$|^src\/interns\/(access|guards|create|open-intern)\.ts$|^src\/models\/(schemas|search|admin)\.ts$/
  expect(strays(/from "(hono|@hono)[/"]/, home)).toEqual([])
})

test("SQL stays in the stores", () => {
  const home = /store\.ts$|^src\/support\/db\.ts$/
  expect(strays(/\.prepare\(|\.batch\(/, home)).toEqual([])
})

test("Drizzle stays in the tables and the stores", () => {
  const home = /(^|\/)table\.ts$|store\.ts$|^src\/support\/db\.ts$/
  expect(strays(/from "drizzle-orm[/"]/, home)).toEqual([])
})

test("the runtime's own modules stay in the Durable Objects", () => {
  expect(strays(/from "cloudflare:/, /^durable-objects\//)).toEqual([])
})

test("zod is imported whole, which bundles to a third", () => {
  expect(strays(/import \{[^}]*\bz\b[^}]*\} from "zod"/, /^$/)).toEqual([])
})

test("no statement is made of strings from outside", () => {
  // Column lists are the only thing that is put into SQL, and they are constants of their store.
  const inserted = files.flatMap(({ path, text }) =>
    [...text.matchAll(/\.prepare\(\s*`[^`]*\$\{([^}]*)\}/g)].map((match) => `${path}: ${match[1]}`),
  )
  expect(
    inserted.filter(
      (one) =>
        !/: (\w*COLUMNS|OF_WORKSPACE|IN_WORKSPACE|OF_CALLER|IN_PLACE|IN_RANGE|THE_PRESET|THE_INTERN|PEOPLE|BOUND|LINEAGE|DESCENDANTS|LEAVES_MANAGEMENT|BREAKS_ORDER|ACTIVE|LISTED|FROM_MAPPINGS|IS_NOT_GIVEN|HERE|given|list|isActive|gone|where|order|assignments|columns\.map\(\(\) => "\?"\)\.join\(", "\)|columns)$/.test(
          one,
        ),
    ),
  ).toEqual([])
})

/** Written by a clock or by the log itself: nobody's deed. */
const UNAUDITED = [
  "src/audit/store.ts",
  "src/datasets/store.ts",
  "src/usage/store.ts",
  "src/reconciliation/store.ts",
  "src/observability/delivery/store.ts",
  // Statements for the batches of other stores, which write the entry.
  "src/scim/apply-store.ts",
]

/** In SQL, or by a call of Drizzle. */
const WRITES = /\b(INSERT INTO|UPDATE \w+ SET|DELETE FROM)\b|\b(db|openDb\(\w+\))\s*\.(insert|update|delete)\(/

test("a store that writes writes what it did beside it", () => {
  const silent = files.filter(
    ({ path, text }) => path.endsWith("store.ts") && WRITES.test(text) && !/\baudit(Statement|IfChanged)\(/.test(text),
  )
  expect(silent.map(({ path }) => path).filter((path) => !UNAUDITED.includes(path))).toEqual([])
})
