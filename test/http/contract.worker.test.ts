import { describe, expect, test } from "vitest"
import { api } from "../../src/app/app.ts"
import { BASE_PATH } from "../../src/http/paths.ts"
import { describeApi } from "../../src/http/openapi.ts"
import { client, isOfOperator, newWorkspace, operatorClient, expectJson } from "../support/world.ts"

/** The complete list of routes that respond without a key. */
const PUBLIC = [
  "GET /credits/vendor",
  "GET /endpoints/zdr",
  "GET /images/models",
  "GET /images/models/{author}/{slug}/endpoints",
  "GET /videos/models",
  "GET /model/{author}/{slug}",
  "GET /models",
  "GET /models/count",
  "GET /models/{author}/{slug}/endpoints",
  "GET /models/{author}/{slug}",
  "GET /oauth/jwks",
  "GET /openapi.json",
  "GET /providers",
  "POST /auth/keys",
  "POST /connect-links/redeem",
  "POST /credits/vendor",
  "POST /oauth/token",
]

type Body = { content?: Record<string, { schema?: unknown }> }
type Operation = {
  parameters?: { name: string; description?: string; schema?: { description?: string } }[]
  requestBody?: Body
  responses: Record<string, Body>
}

const toTemplate = (path: string) => path.replaceAll(/:(\w+)(?:\{[^}]*\})?/g, "{$1}")
const routes = [
  ...new Set(
    api.routes.filter(({ method }) => method !== "ALL").map(({ method, path }) => `${method} ${toTemplate(path)}`),
  ),
].sort()

/** Whether a path belongs to a route. */
function isOf(route: string, path: string): boolean {
  if (route === "POST /models/{name}") return path.includes(":")
  const pattern = (route.split(" ")[1] ?? "").replaceAll(/\{\w+\}/g, "[^/]+")
  return new RegExp(`^${pattern}$`).test(path)
}

const document = describeApi(api)
/** The console's session routes are not part of the API, but at the root of the host. */
const paths = Object.entries(document.paths ?? {}).filter(([path]) => !path.startsWith("/console/"))
/** One route serves all methods of the Gemini API, which the document describes one by one. */
const GEMINI = /^POST \/models\//
const operations = paths.flatMap(([path, methods]) =>
  Object.keys(methods ?? {}).map((method) => `${method.toUpperCase()} ${path}`),
)

describe("the API document", () => {
  test("is served", async () => {
    const served = await expectJson<{ openapi: string }>(200, client().get("/openapi.json"))
    expect(served.openapi).toBe("3.1.0")
  })

  test("has a short title for every operation, and details in its description", () => {
    const titles = Object.values(document.paths ?? {}).flatMap((methods) =>
      Object.values(methods ?? {}).map(({ summary = "" }: { summary?: string }) => summary),
    )
    expect(titles.filter((title) => !/^[A-Z][^.;:]{3,59}$/.test(title))).toEqual([])
  })

  test("describes every field and every parameter", () => {
    const missing: string[] = []
    const look = (at: string, node: unknown): void => {
      if (Array.isArray(node)) return node.forEach((one) => look(at, one))
      if (typeof node !== "object" || node === null) return
      const { properties = {} } = node as { properties?: Record<string, object> }
      for (const [name, field] of Object.entries(properties)) {
        if (!("description" in field) && !("$ref" in field)) missing.push(`${at}.${name}`)
        look(`${at}.${name}`, field)
      }
      for (const part of ["items", "additionalProperties", "anyOf", "oneOf", "allOf"]) look(at, Reflect.get(node, part))
    }
    for (const [name, schema] of Object.entries(document.components?.schemas ?? {})) look(name, schema)
    for (const [path, methods] of Object.entries(document.paths ?? {})) {
      for (const operation of Object.values(methods ?? {}) as Operation[]) {
        for (const { name, description, schema } of operation.parameters ?? []) {
          if (description === undefined && schema?.description === undefined) missing.push(`${path} ?${name}`)
        }
        const contents = [operation.requestBody, ...Object.values(operation.responses)].map((one) => one?.content)
        for (const content of contents) for (const { schema } of Object.values(content ?? {})) look(path, schema)
      }
    }
    expect(missing).toEqual([])
  })

  test("has exactly the routes of the router", () => {
    const described = routes.filter((route) => route !== "GET /openapi.json" && !/ \/models?\/\{id\}/.test(route))
    const isOfGemini = (route: string) => GEMINI.test(route)
    expect(operations.filter((one) => !isOfGemini(one)).sort()).toEqual(described.filter((one) => !isOfGemini(one)))
    expect(operations.filter(isOfGemini).map((one) => one.replace(/:\w+$/, ":"))).toEqual(
      Array.from({ length: 5 }, () => "POST /models/{model}:"),
    )
  })

  test("has a unique name for every operation", () => {
    const ids = Object.values(document.paths ?? {}).flatMap((methods) =>
      Object.values(methods ?? {}).map(({ operationId }) => operationId as string),
    )
    expect(ids.filter((id, index) => !id || ids.indexOf(id) !== index)).toEqual([])
  })
})

describe.each(routes)("%s", (route) => {
  const [method = "", template = ""] = route.split(" ")
  // With ids of the right form, so that only the body is wrong.
  const path = template
    .replace("/models/{name}", "/models/x:generateContent")
    .replace("{hash}", "a".repeat(64))
    .replaceAll(/\{(?:id|\w+Id)\}/g, "01900000-0000-7000-8000-000000000000")
    .replaceAll(/\{\w+\}/g, "x")

  if (!PUBLIC.includes(route)) {
    test("rejects a request without a key", async () => {
      const refused = await client().call(method, path, method === "GET" ? undefined : {})
      expect(refused.status).toBe(401)
      expect(await refused.json()).toMatchObject({ error: { code: 401, message: expect.any(String) } })
      expect(refused.headers.get("x-request-id")).toMatch(/^req-/)
      expect(refused.headers.get("request-id")).toBe(refused.headers.get("x-request-id"))
    })
  }

  test("rejects another method with 405 and the allowed methods", async () => {
    const taken = [...new Set(routes.filter((other) => isOf(other, path)).map((other) => other.split(" ")[0]))]
    const other = ["PUT", "DELETE", "PATCH"].find((candidate) => !taken.includes(candidate)) ?? "TRACE"
    // The operator's key is outside the interns programme.
    const isOfProgramme = /^\/(interns|vault)\b/.test(path)
    const refused = await (isOfProgramme ? (await newWorkspace()).as : operatorClient).call(other, path)
    expect(refused.headers.get("allow")?.split(", ").toSorted()).toEqual(taken.toSorted())
    await expectJson(405, refused)
  })

  // The body of a daemon's request is whatever its agent sends, that of an intern's file its bytes, and that of a
  // passthrough request any that the service accepts.
  const takesAnything = /daemon\/egress$|credits\/vendor$|internId\}\/files\/content$| \/passthrough\//.test(route)
  const takesNone = /\{id\}\/(?:test|redeliver)$/.test(route)
  if (method !== "GET" && method !== "DELETE" && !takesAnything) {
    if (!takesNone) {
      test("rejects a body that is not JSON", async () => {
        const key = isOfOperator(route) ? operatorClient : (await newWorkspace()).manage
        const refused = await key.call(method, path, "{broken")
        // An upload does not accept even JSON.
        await expectJson(route === "POST /files" ? 415 : 400, refused)
      })
    }

    // Its RFC requires a form.
    if (route === "POST /oauth/token") return
    test("rejects a body that is not declared as JSON", async () => {
      const key = isOfOperator(route) ? operatorClient : (await newWorkspace()).manage
      await expectJson(415, key.call(method, path, "a=b", { "content-type": "application/x-www-form-urlencoded" }))
    })
  }
})

test("an unknown path is a 404 in the envelope, with or without a key", async () => {
  for (const key of [undefined, "sk-gw-v1-x"]) {
    const { error } = await expectJson<{ error: { message: string } }>(404, client(key).get("/nothing/here"))
    expect(error.message).toContain(`${BASE_PATH}/nothing/here`)
  }
})

test("the removed charge endpoint always returns 410", async () => {
  await expectJson(410, client().post("/credits/vendor", { anything: true }))
  await expectJson(410, client("wrong").post("/credits/vendor", {}))
})

test("a body that is too large is a 413, with or without a declared length", async () => {
  const workspace = await newWorkspace()
  const large = JSON.stringify({ name: "x".repeat(70_000) })
  await expectJson(413, workspace.manage.call("POST", "/keys", large))
  const stream = new ReadableStream({
    pull(controller) {
      controller.enqueue(new TextEncoder().encode("x".repeat(10_000)))
    },
  })
  await expectJson(413, workspace.manage.callRaw("POST", "/keys", stream))
})

test("an empty body that is declared as JSON is no body, as the OpenAI client for Python sends", async () => {
  const workspace = await newWorkspace()
  const json = { "content-type": "application/json" }
  const cancel = (body: string | undefined) => workspace.as.call("POST", "/batches/batch_x/cancel", body, json)
  for (const body of ["", undefined]) await expectJson(404, cancel(body))
  const empty = new ReadableStream({ pull: (controller) => controller.close() })
  await expectJson(404, workspace.as.callRaw("POST", "/messages/batches/batch_x/cancel", empty))
  const { error } = await expectJson<{ error: { message: string } }>(
    400,
    workspace.as.call("POST", "/embeddings", "", json),
  )
  expect(error.message).toMatch(/^model: /)
})

test("a page of any origin may call with a key", async () => {
  const preflight = await client().call("OPTIONS", "/chat/completions", undefined, {
    origin: "https://app.test",
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization,content-type",
  })
  expect(preflight.status).toBe(204)
  expect(preflight.headers.get("access-control-allow-origin")).toBe("*")
  expect(preflight.headers.get("access-control-allow-headers")).toContain("authorization")
  expect(preflight.headers.get("access-control-allow-credentials")).toBeNull()
})
