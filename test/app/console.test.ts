import { readFileSync } from "node:fs"
import path from "node:path"
import { expect, test } from "vitest"
import { serveConsole } from "../../src/app/console.ts"
import type { Env } from "../../src/config/env.ts"

const INDEX = "<!doctype html>"

function assets(files: Record<string, string>) {
  const fetched: string[] = []
  const fetch = async (request: Request) => {
    const { pathname } = new URL(request.url)
    fetched.push(pathname)
    const body = files[pathname]
    return body === undefined ? new Response(null, { status: 404 }) : new Response(body, { headers: { etag: '"1"' } })
  }
  return { env: { ASSETS: { fetch } } as Partial<Env> as Env, fetched }
}

const get = (path: string, init?: RequestInit) => new Request(`https://gateway.test${path}`, init)

test("every page of the console is the same document, for any path and query", async () => {
  const { env, fetched } = assets({ "/": INDEX })
  for (const path of [
    "/",
    "/playground",
    "/calls/gen-1?status=failed",
    "/models/openai/gpt-5.5",
    "/console/components",
  ]) {
    const response = await serveConsole(get(path), env)
    expect(response?.status, path).toBe(200)
    expect(response?.headers.get("cache-control")).toBe("no-store")
    expect(response?.headers.get("content-security-policy")).toContain("default-src 'none'")
  }
  expect(new Set(fetched)).toEqual(new Set(["/"]))
})

test("every route of the console is a page", async () => {
  const { env } = assets({ "/": INDEX })
  // The routes load components of the browser: read as text.
  const source = readFileSync(path.join(import.meta.dirname, "../../src/console/routes.ts"), "utf8")
  const patterns = [...source.matchAll(/pattern: "([^"]+)"/g)].map(([, pattern = ""]) => pattern)
  expect(patterns.length).toBeGreaterThan(20)
  for (const pattern of patterns) {
    const page = pattern.replaceAll(/:\w+\*?/g, "x")
    expect((await serveConsole(get(page), env))?.status, page).toBe(200)
  }
})

test("the console does not handle paths of the API, unknown paths or other methods", async () => {
  const { env } = assets({ "/": INDEX })
  for (const path of [
    "/api/v1",
    "/api/v1/none",
    "/auth",
    "/health",
    "/ready",
    "/console/session",
    "/scim/v2/Users",
    "/none",
    "/playgrounds",
  ])
    expect(await serveConsole(get(path), env), path).toBeUndefined()
  expect(await serveConsole(get("/playground", { method: "POST" }), env)).toBeUndefined()
})

test("a browser at an unknown path gets the document with 404", async () => {
  const browser = { headers: { accept: "text/html,application/xhtml+xml,*/*;q=0.8" } }
  const response = await serveConsole(get("/playgrounds", browser), assets({ "/": INDEX }).env)
  expect(response?.status).toBe(404)
  expect(await response?.text()).toBe(INDEX)
  expect(response?.headers.get("content-security-policy")).toContain("default-src 'none'")
  for (const path of ["/api/v1/none", "/auth/none", "/scim/v2/none", "/connect/none", "/assets/none-1.js"])
    expect(await serveConsole(get(path, browser), assets({ "/": INDEX }).env), path).toBeUndefined()
  expect(await serveConsole(get("/playgrounds", browser), {} as Env)).toBeUndefined()
})

test("files with a digest are cached for a year, and a missing one is not replaced by the document", async () => {
  const { env } = assets({ "/": INDEX, "/assets/index-1.js": "1" })
  const found = await serveConsole(get("/assets/index-1.js"), env)
  expect(found?.headers.get("cache-control")).toBe("public, max-age=31536000, immutable")
  expect(await serveConsole(get("/assets/none-1.js"), env)).toBeUndefined()
})

test("the script of connect links is never cached, and not replaced by the document if it is missing", async () => {
  const found = await serveConsole(get("/connect.js"), assets({ "/": INDEX, "/connect.js": "1" }).env)
  expect(found?.headers.get("cache-control")).toBe("no-store")
  expect(await found?.text()).toBe("1")
  expect(await serveConsole(get("/connect.js"), assets({ "/": INDEX }).env)).toBeUndefined()
})

test("without a build, the page shows the command to build it", async () => {
  const response = await serveConsole(get("/"), {} as Partial<Env> as Env)
  expect(response?.status).toBe(503)
  expect(await response?.text()).toContain("npm run console:build")
})
