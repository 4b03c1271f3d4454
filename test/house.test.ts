import { existsSync, globSync, readdirSync, readFileSync } from "node:fs"
import path from "node:path"
import { expect, test } from "vitest"
import { CASTS, DENIED_NAMES, DOUBLE_CASTS, type Exceptions, LONG_SIGNATURES } from "./house-exceptions.ts"
import { type Syntax, syntaxOf } from "./support/syntax.ts"

const root = path.join(import.meta.dirname, "..")
const read = (file: string) => readFileSync(path.join(root, file), "utf8")

// Not by import.meta.glob: the module cache would keep its list of files.
const files = globSync(["src/**/*.{ts,tsx}", "durable-objects/**/*.ts"], { cwd: root })
  .map((file) => file.split(path.sep).join("/"))
  .toSorted()
  .map((file) => ({ path: file, text: read(file) }))
const syntax = files.map(syntaxOf)

/** Files that match `pattern` and are not among those that may (`home`). */
function violations(pattern: RegExp, home: RegExp): string[] {
  return files.filter(({ path, text }) => pattern.test(text) && !home.test(path)).map(({ path }) => path)
}

/** Besides dot-files, which tools name. */
const TOP_LEVEL = `
  package.json package-lock.json wrangler.toml tsconfig.json src durable-objects d1-migrations test docs
  README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md LICENSE Dockerfile compose.yaml
`
  .trim()
  .split(/\s+/)

test("the top level has no file that a tool left behind", () => {
  const ignored = readFileSync(path.join(root, ".gitignore"), "utf8").split("\n").filter(Boolean)
  const isIgnored = (name: string) => ignored.some((pattern) => path.matchesGlob(name, pattern.replace(/\/$/, "")))
  const found = readdirSync(root).filter((name) => !name.startsWith(".") && !isIgnored(name))
  expect(found.toSorted()).toEqual(TOP_LEVEL.toSorted())
})

test("no file is longer than 300 lines", () => {
  const long = files.filter(({ text }) => text.split("\n").length > 300)
  expect(long.map(({ path }) => path)).toEqual([])
})

test("a folder has at most 15 files", () => {
  const folders = Map.groupBy(files, ({ path: file }) => path.dirname(file))
  const large = [...folders].filter(([, { length }]) => length > 15)
  expect(large.map(([folder, { length }]) => `${folder}: ${length}`)).toEqual([])
})

test("each Durable Object class of wrangler.toml is exported by the Worker and by the entry point of wrangler dev", () => {
  const config = read("wrangler.toml")
  const classes = [...config.matchAll(/^class_name = "(\w+)"/gm)].map(([, name = ""]) => name)
  expect(classes.length).toBeGreaterThan(0)
  for (const path of ["src/index.ts", "src/embedded/development.ts"]) {
    const text = files.find((file) => file.path === path)?.text ?? ""
    const isExported = (name: string) => new RegExp(`export (?:class ${name}\\b|\\{[^}]*\\b${name}\\b)`).test(text)
    expect([path, classes.filter((name) => !isExported(name))]).toEqual([path, []])
  }
})

/** Bottom to top: a folder imports those before it. Programs may import any folder, and no folder imports them. */
const FOLDERS = `
  support errors money formats config access http audit secrets outbound providers models ledger
  generations usage workspaces members keys organizations reconciliation budgets byok guardrails
  presets observability alerts policy sessions calls routing mcp-servers passthrough server-tools plugins files response-cache inference batches datasets scim oauth connect vault
  interns events app durable-objects/ledger durable-objects/intern
  durable-objects/container durable-objects/delivery durable-objects/batch durable-objects/realtime index
`
  .trim()
  .split(/\s+/)
const PROGRAMS = ["embedded", "daemon", "dev", "local", "console"]
/** `dev` builds what `local` runs. */
const ALLOWED = (to: string, from: string) => from === "dev" && to === "local"

function folderOf(path: string): string {
  const [top = "", second = "", third] = path.split("/")
  if (top === "durable-objects") return `${top}/${second}`
  return third === undefined ? second.replace(".ts", "") : second
}

/** The project files that a file imports: paths from the root. Type imports count. */
function importsOf({ path, text }: (typeof files)[number]): string[] {
  const specifiers = [...text.matchAll(/(?:from|import\()\s*"(\.[^"]+)"/g)].map((match) => match[1] ?? "")
  return specifiers.map((specifier) => new URL(specifier, `file:///${path}`).pathname.slice(1))
}

test("a folder imports only the folders below it", () => {
  const upward = files.flatMap((file) => {
    const from = folderOf(file.path)
    return importsOf(file)
      .filter((to) => to.endsWith(".ts") && folderOf(to) !== from)
      .filter((to) => PROGRAMS.includes(folderOf(to)) || (!PROGRAMS.includes(from) && !isBelow(folderOf(to), from)))
      .filter((to) => !ALLOWED(folderOf(to), from))
      .map((to) => `${file.path} imports ${to}`)
  })
  expect(upward).toEqual([])
})

function isBelow(folder: string, other: string): boolean {
  return FOLDERS.includes(folder) && FOLDERS.includes(other) && FOLDERS.indexOf(folder) < FOLDERS.indexOf(other)
}

test("no file imports itself through others", () => {
  const graph = new Map(files.map((file) => [file.path, importsOf(file)]))
  const reached = new Map([...graph.keys()].map((path) => [path, reachableFrom(path, graph)]))
  expect([...graph.keys()].filter((path) => reached.get(path)?.has(path))).toEqual([])
})

function reachableFrom(path: string, graph: ReadonlyMap<string, readonly string[]>): Set<string> {
  const reached = new Set<string>()
  const waiting = [...(graph.get(path) ?? [])]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (reached.has(next)) continue
    reached.add(next)
    waiting.push(...(graph.get(next) ?? []))
  }
  return reached
}

test("every dependency is imported by the source", () => {
  const { dependencies } = JSON.parse(read("package.json")) as { dependencies: Record<string, string> }
  const unused = Object.keys(dependencies).filter(
    (name) => !files.some(({ text }) => new RegExp(`["']${name}(?:/[^"']*)?["']`).test(text)),
  )
  expect(unused).toEqual([])
})

test("HTTP is used only at the edge", () => {
  const home =
    /^src\/(http|access|app)\/|^src\/errors\/errors\.ts$|routes\.ts$|schemas\.ts$|^src\/inference\/context\.ts$|^src\/audit\/actor\.ts$|^src\/policy\/authenticate\.ts$|^src\/interns\/access\/(access|guards)\.ts$|^src\/interns\/lifecycle\/(control|create|open-intern)\.ts$|^src\/models\/(schemas|admin|lists\/search)\.ts$/
  expect(violations(/from "(hono|@hono)(?!\/html")[/"]/, home)).toEqual([])
})

test("SQL is used only in the stores", () => {
  const home = /store\.ts$|^src\/support\/db\.ts$|^src\/local\/migrate\.ts$/
  expect(violations(/\.prepare\(|\.batch\(/, home)).toEqual([])
})

test("Drizzle is used only in the tables and the stores", () => {
  const home = /(^|\/)table\.ts$|store\.ts$|^src\/support\/db\.ts$/
  expect(violations(/from "drizzle-orm[/"]/, home)).toEqual([])
})

test("cloudflare: modules are imported only by the Durable Objects", () => {
  expect(violations(/from "cloudflare:/, /^durable-objects\//)).toEqual([])
})

test("zod is imported as a namespace, which bundles to a third of the size", () => {
  expect(violations(/import \{[^}]*\bz\b[^}]*\} from "zod"/, /^$/)).toEqual([])
})

test("no SQL statement contains external strings", () => {
  // Only column lists are interpolated into SQL, and they are constants of their store.
  const inserted = files.flatMap(({ path, text }) =>
    [...text.matchAll(/\.prepare\(\s*`[^`]*\$\{([^}]*)\}/g)].map((match) => `${path}: ${match[1]}`),
  )
  expect(
    inserted.filter(
      (one) =>
        !/: (\w*COLUMNS|OF_WORKSPACE|IN_WORKSPACE|NEWEST_REVISION|OF_CALLER|IN_RANGE|THE_PRESET|THE_INTERN|PEOPLE|BOUND|LINEAGE|DESCENDANTS|LEAVES_MANAGEMENT|BREAKS_ORDER|ACTIVE|LISTED|FROM_MAPPINGS|IS_NOT_MAPPED|HERE|mappings|list|isActive|gone|where|order|assignments|columns\.map\(\(\) => "\?"\)\.join\(", "\)|columns)$/.test(
          one,
        ),
    ),
  ).toEqual([])
})

test("numbers of changed rows are not read from meta.changes, which counts the rows of triggers too", () => {
  const isCount = /meta\.changes(?! > 0| \?\? 0\) > 0| < |\s*\? )/
  // Their tables have no triggers.
  const tables = /^src\/(observability|calls|audit|usage|models|members)\//
  expect(violations(isCount, tables)).toEqual([])
})

/** Written by a schedule or by the log itself, not by an actor. */
const UNAUDITED = [
  "src/audit/store.ts",
  "src/batches/progress-store.ts",
  "src/datasets/store.ts",
  "src/calls/rejected-store.ts",
  "src/interns/questions-store.ts",
  "src/models/discovery/discovery-store.ts",
  "src/usage/store.ts",
  "src/usage/scope-store.ts",
  "src/reconciliation/store.ts",
  "src/observability/delivery/store.ts",
  "src/observability/metrics/metrics-store.ts",
  "src/observability/turn-store.ts",
  // Statements for the batches of other stores, which write the entry.
  "src/scim/apply-store.ts",
]

/** In SQL or with Drizzle. */
const WRITES = /\b(INSERT INTO|UPDATE \w+ SET|DELETE FROM)\b|\b(db|openDb\(\w+\))\s*\.(insert|update|delete)\(/

test("a store that writes also writes the audit log", () => {
  const silent = files.filter(
    ({ path, text }) =>
      path.startsWith("src/") &&
      path.endsWith("store.ts") &&
      WRITES.test(text) &&
      !/\baudit(Statement|IfChanged)\(/.test(text),
  )
  expect(silent.map(({ path }) => path).filter((path) => !UNAUDITED.includes(path))).toEqual([])
})

/** Files with more violations than their exception allows, and exceptions that are no longer needed. */
function overruns(exceeded: ReadonlyMap<string, readonly string[]>, exceptions: Exceptions): string[] {
  const over = [...exceeded].filter(([path, found]) => found.length > (exceptions[path] ?? 0))
  const stale = Object.keys(exceptions).filter((path) => (exceeded.get(path) ?? []).length === 0)
  return [
    ...over.map(([path, found]) => `${path}: ${found.join(", ")}`),
    ...stale.map((path) => `${path}: needs no exception any more`),
  ]
}

function violationsBy(find: (file: Syntax) => readonly string[]): Map<string, readonly string[]> {
  return new Map(syntax.map((file) => [file.path, find(file)]))
}

test("no function has five or more positional parameters", () => {
  expect(
    overruns(
      violationsBy(({ longSignatures }) => longSignatures),
      LONG_SIGNATURES,
    ),
  ).toEqual([])
})

test("a folder has at most four casts per 1,000 lines", () => {
  const folders = Map.groupBy(syntax, ({ path }) => folderOf(path))
  const over = [...folders.values()].filter((folder) => {
    const casts = folder.reduce((sum, file) => sum + file.casts.length, 0)
    return casts > Math.ceil((4 * folder.reduce((sum, { lines }) => sum + lines, 0)) / 1000)
  })
  const exceeded = new Map(over.flat().map(({ path, casts }) => [path, casts]))
  expect(overruns(exceeded, CASTS)).toEqual([])
})

test("no cast goes through unknown or never", () => {
  const double = ({ casts }: Syntax) => casts.filter((type) => type === "unknown" || type === "never")
  expect(overruns(violationsBy(double), DOUBLE_CASTS)).toEqual([])
})

/** Words of a former private vocabulary. The glossary in `docs/README.md` has the field's terms. */
const DENIED = new Set(
  `told tell teller telling asked asking words said saying hear heard deed lane road world arrival passage intake
   dialect surface wire belonging leaver leaving nonsense doors reach life lot film hum played claudish company patience sieve furnish furniture ask asks dearest nobody
   wish wishes wished strangers lately complaints likeness lessons door rang brought hurried calm apart beside books
   unwatched leftovers twin twins whole say says leave leaves who whom whose whoever refuse refuses refusing answering
   theirs ours unfit contradictable station stations programme wholly`
    .trim()
    .split(/\s+/),
)
/** Denied only as the complete identifier. */
const DENIED_ALONE = new Set(["place", "own", "book"])
/** Names that APIs, the environment or libraries define. */
const GIVEN_NAMES = new Set([
  "CLIENT_DIALECT",
  "SQLiteAsyncDialect",
  "search_surface",
  "interns_programme",
  "internsProgramme",
])
/** Fields of an API or of the configuration with a denied word: `words` of a transcription. */
const GIVEN_FIELDS = new Set([
  "src/guardrails/screening.ts words",
  "src/providers/custom.ts wire",
  // The concept of prompt injections, and a field of errors of ACP clients.
  "src/guardrails/detectors/injection/lexicon/concepts.ts ask",
  "src/guardrails/detectors/injection/lexicon/function-terms.ts say",
  // The two sides of a merge in isomorphic-git.
  "src/interns/embedded/git/branches.ts theirs",
  "durable-objects/intern/clients/client-session-access.ts door",
])

function isDenied(name: string): boolean {
  const parts = name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split(/[_\-.]/)
  return !GIVEN_NAMES.has(name) && (DENIED_ALONE.has(name) || parts.some((part) => DENIED.has(part)))
}

test("names use the field's terms", () => {
  const denied = ({ path, identifiers }: Syntax) =>
    [path.slice(path.lastIndexOf("/") + 1), ...identifiers].filter(
      (name) => isDenied(name) && !GIVEN_FIELDS.has(`${path} ${name}`),
    )
  expect(overruns(violationsBy(denied), DENIED_NAMES)).toEqual([])
})

/** Words that leave open who does what: returns, sends, logs, exports; the client, the key, another member. */
const VAGUE = /\b(?:tells?|told|telling|heard|says so|nobody|somebody|whoever|anew|mended|lest)\b/i

test("titles of tests say what happens in the field's terms", () => {
  const titles = globSync("test/**/*.test.ts").flatMap((path) =>
    [...readFileSync(path, "utf8").matchAll(/(?:\b(?:test|describe)(?:\.\w+)*\(|\]\)\()\s*(["`])(.+?)\1,/gs)].map(
      ([, , title = ""]) => ({ path, title }),
    ),
  )
  expect(titles.length).toBeGreaterThan(3_000)
  expect(titles.filter(({ title }) => VAGUE.test(title))).toEqual([])
})

test("comments name their subject or begin with a verb, not with Of, What, Who, Those or Whose", () => {
  const vague = /(?:\/\*\*?\s+(?:\*\s+)?|(?:^|\s)\/\/ )(?:Of|What|Who|Those|Whose|Whatever|Whoever)\b.{0,60}/g
  const found = files.flatMap(({ path, text }) => [...text.matchAll(vague)].map(([comment]) => `${path}: ${comment}`))
  expect(found).toEqual([])
})

test("no timer outlives its work, which would keep a Durable Object in memory", () => {
  const lasting = /AbortSignal\.timeout\(|Promise\.race\(\[[^\]]*\bwait\(/
  const inWorker = files.filter(({ path }) => !PROGRAMS.includes(folderOf(path)))
  expect(inWorker.filter(({ text }) => lasting.test(text)).map(({ path }) => path)).toEqual([])
})

test("the documents name files that exist", () => {
  const documents = globSync(["README.md", "CONTRIBUTING.md", "docs/**/*.md"])
  const named = documents.flatMap((document) =>
    [...readFileSync(document, "utf8").matchAll(/`((?:src|test|durable-objects|d1-migrations|docs)\/[\w./-]+)`/g)].map(
      ([, path = ""]) => ({ document, path }),
    ),
  )
  expect(named.length).toBeGreaterThan(50)
  expect(named.filter(({ path }) => !path.includes("NNNN") && !existsSync(path))).toEqual([])
})

/** Written by `npm start`, fields of earlier responses on the page, and variables of the shell. */
const DOCUMENTED_VARIABLES = new Set(
  `GATEWAY_URL GATEWAY_API_KEY GATEWAY_MANAGEMENT_KEY BOOTSTRAP_MANAGEMENT_KEY
   ID KEY_HASH WORKSPACE GUARDRAIL SESSION CALL GROUP DIRECTORY SCIM_TOKEN CODE JWT TOKEN EDITOR`
    .trim()
    .split(/\s+/),
)

test("commands of the documents use the names of .dev.env", () => {
  const unknown = globSync(["README.md", "CONTRIBUTING.md", "docs/**/*.md"]).flatMap((document) => {
    const text = readFileSync(document, "utf8")
    const commands = [...text.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block = ""]) => block).join("")
    return [...commands.matchAll(/\$([A-Z][A-Z_]+)/g)]
      .map(([, name = ""]) => name)
      .filter((name) => !DOCUMENTED_VARIABLES.has(name) && !new RegExp(`^${name}=`, "m").test(commands))
      .map((name) => `${document}: $${name}`)
  })
  expect(unknown).toEqual([])
})
