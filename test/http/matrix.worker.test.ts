import { beforeAll, describe, expect, test } from "vitest"
import { api } from "../../src/app/app.ts"
import { describeApi } from "../../src/http/openapi.ts"
import { addGroup, connect } from "../scim/directory.ts"
import { insertIntern } from "../support/interns.ts"
import {
  isOfOperator,
  type TestClient,
  newKey,
  newWorkspace,
  operatorClient,
  expectJson,
  type Workspace,
} from "../support/world.ts"

/** Rejections that every route shares, tested on the routes of the router: a new one is covered automatically. */

type Schema = {
  $ref?: string
  type?: string | string[]
  required?: string[]
  additionalProperties?: unknown
  minimum?: number
  maximum?: number
  allOf?: Schema[]
}
type Operation = {
  method: string
  path: string
  parameters: { name: string; in: string; schema?: Schema }[]
  body: Schema | undefined
}

const document = describeApi(api) as unknown as {
  paths: Record<
    string,
    Record<
      string,
      { parameters?: Operation["parameters"]; requestBody?: { content: Record<string, { schema?: Schema }> } }
    >
  >
  components: { schemas: Record<string, Schema> }
}

function resolved(schema: Schema | undefined): Schema | undefined {
  const name = schema?.$ref?.split("/").at(-1)
  return name === undefined ? schema : document.components.schemas[name]
}

/** Without those of the console, which are not part of the API: test/sessions. */
const paths = Object.entries(document.paths).filter(([path]) => !path.startsWith("/console/"))
const operations: Operation[] = paths.flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { parameters = [], requestBody }]) => ({
    method: method.toUpperCase(),
    path,
    parameters,
    body: resolved(requestBody?.content["application/json"]?.schema),
  })),
)

const nameOf = ({ method, path }: Operation) => `${method} ${path}`

/** Routes for any key, and those that need none. Every other one is for management keys. */
const FOR_ANY_KEY =
  /^\w+ \/(models?|endpoints|embeddings|providers|oauth|chat|completions|fim|responses|messages|rerank|moderations|images|audio|videos|generation(\/content)?$|key$|key\/|connect-links|calls|events|questions|estimate|datasets|batches|realtime|mcp\/|passthrough\/|classifications|benchmarks|files|auth\/keys|vault|interns)/
const PUBLIC_OR_GONE = /credits\/vendor/
const READS_OF_PRESETS = /^GET \/presets/

const isManaged = (operation: Operation) => {
  const name = nameOf(operation)
  if (name === "POST /generation/feedback") return true
  return !FOR_ANY_KEY.test(name) && !PUBLIC_OR_GONE.test(name) && !READS_OF_PRESETS.test(name)
}

const SOMETHING = "01a1fed6-f156-71f0-9e2f-d3a472f3d414"

/** A path whose parameters are well-formed and belong to no record. */
function anyPath({ path }: Operation): string {
  return path
    .replace("{hash}", "a".repeat(64))
    .replace("{interval}", "daily")
    .replace("{version}", "1")
    .replace("{slug}", "nobody")
    .replace("{name}", "nothing")
    .replaceAll(/\{\w+\}/g, SOMETHING)
}

let workspace: Workspace
beforeAll(async () => {
  workspace = await newWorkspace()
})
const managerOf = (operation: Operation): TestClient =>
  isOfOperator(nameOf(operation)) ? operatorClient : workspace.manage

async function refusal(status: number, answer: Promise<Response>): Promise<string> {
  const { error } = await expectJson<{ error: { code: number; message: string } }>(status, answer)
  expect(error.code).toBe(status)
  return error.message
}

describe("a normal key on a management route", () => {
  test.each(operations.filter(isManaged).map((operation) => [nameOf(operation), operation] as const))(
    "%s: 403 with the keys that may",
    async (_, operation) => {
      const body = operation.method === "GET" || operation.method === "DELETE" ? undefined : {}
      const message = await refusal(403, workspace.as.call(operation.method, anyPath(operation), body))
      expect(message).toMatch(/^Only /)
    },
  )
})

describe("a page parameter out of its range", () => {
  const paged = operations.flatMap((operation) =>
    operation.method === "GET"
      ? operation.parameters.flatMap(({ name, in: place, schema }) => {
          if (place !== "query" || (name !== "limit" && name !== "offset")) return []
          const { minimum, maximum } = schema ?? {}
          const wrong = [minimum === undefined ? [] : [minimum - 1], maximum === undefined ? [] : [maximum + 1]].flat()
          return [...wrong, "many", "1.5"].map((value) => [nameOf(operation), name, value, operation] as const)
        })
      : [],
  )
  test.each(paged)("%s?%s=%s: 400 with its name", async (_, name, value, operation) => {
    const message = await refusal(400, managerOf(operation).get(`${anyPath(operation)}?${name}=${value}`))
    expect(message).toContain(name)
  })
})

describe("a body", () => {
  const strict = operations.filter(({ body, path }) => body?.additionalProperties === false && path !== "/auth/keys")
  test.each(strict.map((operation) => [nameOf(operation), operation] as const))(
    "%s: an unknown field is 400",
    async (_, operation) => {
      await refusal(400, managerOf(operation).call(operation.method, anyPath(operation), { no_such_field: 1 }))
    },
  )

  const demanding = operations.filter(({ body, path }) => (body?.required?.length ?? 0) > 0 && path !== "/auth/keys")
  test.each(demanding.map((operation) => [nameOf(operation), operation] as const))(
    "%s: a missing field is named",
    async (_, operation) => {
      const message = await refusal(400, managerOf(operation).call(operation.method, anyPath(operation), {}))
      expect((operation.body?.required ?? []).some((name) => message.includes(name))).toBe(true)
    },
  )
})

describe("a record of another organization", () => {
  type Name = "hash" | "workspace" | "guardrail" | "byok" | "preset" | "user" | "file" | "generation" | "intern"
  type Made = Record<Name | "directory" | "mapping" | "job" | "destination" | "channel", string>
  let made: Made
  let mine: Workspace

  beforeAll(async () => {
    mine = await newWorkspace()
    type Data = { data: { id: string } }
    const { hash } = await newKey(mine)
    const guardrail = await expectJson<Data>(201, mine.manage.post("/guardrails", { name: "Mine" }))
    const credential = { provider: "openai", key: "sk-own-0123456789abcdef" }
    const byok = await expectJson<Data>(201, mine.manage.post("/byok", credential))
    const preset = { model: "sim/echo", messages: [{ role: "user", content: "Hi" }] }
    await expectJson(200, mine.manage.post("/presets/of-mine/chat/completions", preset))
    const user = await expectJson<Data>(201, mine.manage.post("/organization/members", { email: "ada@example.com" }))
    const form = new FormData()
    form.append("file", new File(["Mine"], "mine.txt", { type: "text/plain" }))
    const upload = new Request("http://x/", { method: "POST", body: form })
    const raw = new Uint8Array(await upload.arrayBuffer())
    const file = await mine.as.callBytes("POST", "/files", raw, upload.headers.get("content-type") ?? "")
    const call = await mine.as.chat("sim/echo", "Mine")
    await call.text()
    const directory = await connect(mine)
    const group = await addGroup(directory.push, "Engineers")
    const mapped = { scim_group_id: group.id, workspace_id: mine.workspaceId }
    const mapping = await expectJson<Data>(200, mine.manage.post("/scim/group-mappings", mapped))
    const job = await expectJson<Data>(202, mine.manage.post("/scim/sync-jobs", undefined))
    const intern = await insertIntern(mine)
    await expectJson(200, mine.as.put(`/vault/interns/${intern.id}/secrets/nothing`, SECRET))
    const listener = { type: "otel-collector", name: "Mine", config: { endpoint: "https://otel.example.com" } }
    const slack = { type: "slack", name: "Mine", config: { url: "https://hooks.example.com" } }
    const channel = await expectJson<Data>(201, mine.manage.post("/alerts/channels", slack))
    const destination = await expectJson<Data>(201, mine.manage.post("/observability/destinations", listener))
    made = {
      intern: intern.id,
      destination: destination.data.id,
      channel: channel.data.id,
      directory: directory.id,
      mapping: mapping.data.id,
      job: job.data.id,
      hash,
      workspace: mine.workspaceId,
      guardrail: guardrail.data.id,
      byok: byok.data.id,
      preset: "of-mine",
      user: user.data.id,
      file: (await expectJson<{ id: string }>(200, file)).id,
      generation: call.headers.get("x-generation-id") ?? "",
    }
  })

  const SECRET = { hosts: ["api.example.com"], value: "Taken" }

  /** Valid bodies, so that only the record is at fault. */
  const BODIES: Record<string, (made: Made) => unknown> = {
    "PATCH /keys/{hash}": () => ({ name: "Taken" }),
    "PUT /workspaces/{workspaceRef}/budgets/{interval}": () => ({ limit_usd: 1 }),
    "PUT /workspaces/{workspaceRef}/aliases/{name}": () => ({ arms: [{ model: "sim/echo" }] }),
    "PATCH /workspaces/{workspaceRef}": () => ({ name: "Taken" }),
    "POST /workspaces/{workspaceRef}/members/add": ({ user }) => ({ user_ids: [user] }),
    "POST /workspaces/{workspaceRef}/members/remove": ({ user }) => ({ user_ids: [user] }),
    "PATCH /organization/members/{userId}": () => ({ first_name: "Taken" }),
    "PATCH /presets/{slug}": () => ({ name: "Taken" }),
    "PATCH /guardrails/{id}": () => ({ name: "Taken" }),
    "POST /guardrails/{id}/assignments/keys": ({ hash }) => ({ key_hashes: [hash] }),
    "POST /guardrails/{id}/assignments/keys/remove": ({ hash }) => ({ key_hashes: [hash] }),
    "POST /guardrails/{id}/assignments/members": ({ user }) => ({ member_user_ids: [user] }),
    "POST /guardrails/{id}/assignments/members/remove": ({ user }) => ({ member_user_ids: [user] }),
    "PATCH /byok/{id}": () => ({ name: "Taken" }),
    "PATCH /observability/destinations/{id}": () => ({ name: "Taken" }),
    "PATCH /alerts/channels/{id}": () => ({ name: "Taken" }),
    "PATCH /scim/directories/{id}": () => ({ name: "Taken" }),
    "PATCH /scim/group-mappings/{id}": () => ({ role: "admin" }),
    "POST /interns/{internId}/chat/completions": () => ({ stream: true, messages: [{ role: "user", content: "Hi" }] }),
    "PUT /vault/interns/{internId}/secrets/{name}": () => SECRET,
    "POST /interns/{internId}/questions/{questionId}": () => ({ session_id: "s", content: "allow_once" }),
    "PUT /interns/{internId}/webhook": () => ({ url: "https://hooks.example.com/interns" }),
    "POST /interns/{internId}/schedules": () => ({ cron: "0 8 * * *", prompt: "Taken" }),
    "POST /interns/{internId}/files/publish": () => ({ path: "mine.txt" }),
    "POST /vault/interns/{internId}/secrets/copy": () => ({ names: ["nothing"] }),
  }

  const ofId = (path: string): string => {
    if (path.startsWith("/byok")) return made.byok
    if (path.startsWith("/observability")) return made.destination
    if (path.startsWith("/alerts")) return made.channel
    if (path.startsWith("/scim/directories")) return made.directory
    if (path.startsWith("/scim/group-mappings")) return made.mapping
    return path.startsWith("/scim/sync-jobs") ? made.job : made.guardrail
  }

  const pathOf = ({ path }: Operation): string =>
    path
      .replace("{hash}", made.hash)
      .replace("{workspaceRef}", made.workspace)
      .replace("{interval}", "daily")
      .replace("{slug}", made.preset)
      .replace("{version}", "1")
      .replace("{userId}", made.user)
      .replace("{file_id}", made.file)
      .replace("{internId}", made.intern)
      .replace("{scheduleId}", crypto.randomUUID())
      .replace("{name}", "nothing")
      .replace("{id}", ofId(path))

  const QUERIES: Record<string, string> = {
    "DELETE /scim/group-mappings/{id}": "?keep_members=true",
    "GET /interns/{internId}/files/content": "?path=mine.txt",
    "PUT /interns/{internId}/files/content": "?path=mine.txt",
    "DELETE /interns/{internId}/files/content": "?path=mine.txt",
  }

  const ofRecords = operations.filter(
    ({ path, method }) =>
      /\{(hash|workspaceRef|slug|userId|file_id|internId|id)\}/.test(path) &&
      !path.startsWith("/model") &&
      // It needs a token instead of a management key.
      !/\/daemon\/(files|secrets|egress|attach)$/.test(path) &&
      // Its key, the operator's, sees every organization.
      !path.startsWith("/organizations") &&
      // Creating a preset creates the client's.
      !(method === "POST" && path.startsWith("/presets")),
  )

  test.each(ofRecords.map((operation) => [nameOf(operation), operation] as const))(
    "%s: 404 for a management key",
    async (name, operation) => {
      const hasBody = !["GET", "DELETE"].includes(operation.method)
      const body = hasBody ? (BODIES[name]?.(made) ?? {}) : undefined
      const path = pathOf(operation) + (QUERIES[name] ?? "")
      await refusal(404, workspace.manage.call(operation.method, path, body))
    },
  )

  test.each(["/generation", "/generation/content"])("GET %s: 404 for any key", async (path) => {
    for (const by of [workspace.as, workspace.manage]) {
      await refusal(404, by.get(`${path}?id=${made.generation}`))
    }
  })

  test("is unchanged afterwards", async () => {
    type Named = { data: { name: string } }
    expect((await expectJson<Named>(200, mine.manage.get(`/keys/${made.hash}`))).data.name).toBe("test")
    expect((await expectJson<Named>(200, mine.manage.get(`/guardrails/${made.guardrail}`))).data.name).toBe("Mine")
    await expectJson(200, mine.manage.get(`/byok/${made.byok}`))
    const unchanged = await expectJson<Named>(200, mine.manage.get(`/observability/destinations/${made.destination}`))
    expect(unchanged.data.name).toBe("Mine")
    await expectJson(200, mine.manage.get("/presets/of-mine"))
    const kept = await expectJson<{ data: unknown[] }>(200, mine.as.get(`/vault/interns/${made.intern}/secrets`))
    expect(kept.data).toMatchObject([{ name: "nothing", hosts: SECRET.hosts }])
    await expectJson(200, mine.as.get(`/files/${made.file}`))
  })

  test("in another workspace of the organization is not found by normal keys", async () => {
    type Data = { data: { id: string } }
    const { data } = await expectJson<Data>(201, mine.manage.post("/workspaces", { name: "Other", slug: "other" }))
    const { as } = await newKey(mine, { workspace_id: data.id })
    const vault = `/vault/interns/${made.intern}/secrets`
    for (const path of [`/files/${made.file}`, `/generation?id=${made.generation}`, "/presets/of-mine", vault]) {
      await refusal(404, as.get(path))
    }
    await refusal(404, as.delete(`/files/${made.file}`))
  })
})
