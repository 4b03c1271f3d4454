import { expect } from "vitest"
import { addGroup, addUser, ENTERPRISE, newDirectory, type Push, type Resource } from "./directory.ts"

/** RFC 7643 and RFC 7644, clause by clause: each request with its expected response. */

export type Stage = { push: Push; ada: Resource; bob: Resource; cy: Resource; crew: Resource }
export type Request = [method: string, path: string, body?: unknown, headers?: Record<string, string>]
export type Expected = {
  status: number
  /** Matched as a part of the body. */
  body?: object
  headers?: Record<string, string | RegExp>
  /** Names that the body must not have. */
  without?: string[]
  /** The userNames or displayNames of a list, in order; without the domain. */
  names?: string[]
}
export type Row = [section: string, clause: string, request: (stage: Stage) => Request, expected: Expected]

const ERROR = "urn:ietf:params:scim:api:messages:2.0:Error"
export const LIST = "urn:ietf:params:scim:api:messages:2.0:ListResponse"
export const SEARCH = "urn:ietf:params:scim:api:messages:2.0:SearchRequest"
export const refused = (status: number, scimType?: string): Expected => ({
  status,
  body: { schemas: [ERROR], status: String(status), detail: expect.any(String), ...(scimType && { scimType }) },
})

export async function newStage(): Promise<Stage> {
  const { push } = await newDirectory()
  const ada = await addUser(push, "Ada", {
    externalId: "EX-1",
    name: { givenName: "Ada", familyName: "Lovelace" },
    title: "Countess",
    emails: [
      { value: "ada@work.test", type: "work", primary: true },
      { value: "ada@home.test", type: "home" },
    ],
    [ENTERPRISE]: { department: "Engines", manager: { value: "boss-1" } },
  })
  const bob = await addUser(push, "bob", { name: { familyName: "Babbage" }, active: false })
  const cy = await addUser(push, "cy", { emails: [{ value: "cy@home.test", type: "home" }] })
  const crew = await addGroup(push, "Crew", ada.id)
  return { push, ada, bob, cy, crew }
}

/** Sends the request and compares the response; returns its body. */
export async function expectClause({ push }: Stage, request: Request, expected: Expected): Promise<unknown> {
  const [method, path, body, headers] = request
  const response = await push(method, path, body, headers)
  const text = await response.text()
  expect(response.status, text).toBe(expected.status)
  for (const [name, value] of Object.entries(expected.headers ?? {})) {
    if (value instanceof RegExp) expect(response.headers.get(name)).toMatch(value)
    else expect(response.headers.get(name)).toBe(value)
  }
  for (const name of expected.without ?? []) expect(text).not.toContain(`"${name}":`)
  const received: unknown = text === "" ? undefined : JSON.parse(text)
  if (expected.body) expect(received).toMatchObject(expected.body)
  if (expected.names) {
    const { Resources } = received as { Resources: { userName?: string; displayName?: string }[] }
    expect(Resources.map((one) => (one.userName ?? one.displayName)?.replace("@example.com", ""))).toEqual(
      expected.names,
    )
  }
  return received
}
