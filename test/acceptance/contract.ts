import { afterAll, expect, inject } from "vitest"
import { VIOLATIONS_PATH } from "./contract-proxy.ts"

afterAll(async () => {
  const response = await fetch(new URL(VIOLATIONS_PATH, inject("gateway").url))
  expect(await response.json(), "answers outside the OpenAPI document").toEqual([])
})
