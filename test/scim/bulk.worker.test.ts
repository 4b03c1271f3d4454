import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { type BulkOperation, mapReferences, orderOf } from "../../src/scim/protocol/bulk.ts"
import { expectJson } from "../support/world.ts"
import {
  addGroup,
  addUser,
  ENTERPRISE,
  GROUP,
  type List,
  newDirectory,
  patch,
  type Push,
  type Resource,
  USER,
} from "./directory.ts"
import { watchPolicyWrites } from "../support/policy-writes.ts"

watchPolicyWrites()

type Result = {
  method: string
  bulkId?: string
  location?: string
  version?: string
  status: string
  response?: { status: string; scimType?: string }
}

async function bulk(push: Push, operations: object[], more: object = {}): Promise<Result[]> {
  const body = { schemas: ["urn:ietf:params:scim:api:messages:2.0:BulkRequest"], ...more, Operations: operations }
  const answer = await expectJson<{ schemas: string[]; Operations: Result[] }>(200, push("POST", "/Bulk", body))
  expect(answer.schemas).toEqual(["urn:ietf:params:scim:api:messages:2.0:BulkResponse"])
  return answer.Operations
}

const user = (bulkId: string, more: object = {}) => ({
  method: "POST",
  path: "/Users",
  bulkId,
  data: { schemas: [USER], userName: `${bulkId}@example.com`, ...more },
})
const group = (bulkId: string, ...members: string[]) => ({
  method: "POST",
  path: "/Groups",
  bulkId,
  data: { schemas: [GROUP], displayName: bulkId, members: members.map((value) => ({ value })) },
})
const to = ({ data }: BulkOperation) => ((data?.["to"] ?? []) as string[]).map((name) => name.replace("bulkId:", ""))
const statuses = (results: Result[]) => results.map(({ status }) => status)
const idIn = ({ location = "" }: Result) => location.split("/").at(-1) ?? ""

describe("bulk requests (RFC 7644, section 3.7)", () => {
  test("create, replace, update and delete, and return the location and status of each operation", async () => {
    const { push } = await newDirectory()
    const [kept, gone] = [await addUser(push, "kept"), await addUser(push, "gone")]
    const crew = await addGroup(push, "Crew", kept.id)
    const results = await bulk(push, [
      user("new"),
      { method: "PUT", path: `/Users/${kept.id}`, version: kept.meta.version, data: { userName: "put@example.com" } },
      { method: "PATCH", path: `/Groups/${crew.id}`, bulkId: "named", data: patch({ op: "remove", path: "members" }) },
      { method: "delete", path: `/Users/${gone.id}` },
    ])
    expect(results).toEqual([
      { method: "POST", bulkId: "new", location: expect.any(String), version: 'W/"1"', status: "201" },
      { method: "PUT", location: kept.meta.location, version: 'W/"2"', status: "200" },
      { method: "PATCH", bulkId: "named", location: crew.meta.location, version: 'W/"2"', status: "200" },
      { method: "DELETE", location: gone.meta.location, status: "204" },
    ])
    const list = await expectJson<List>(200, push("GET", "/Users?sortBy=userName"))
    expect(list.Resources.map((one) => one["userName"])).toEqual(["new@example.com", "put@example.com"])
    expect((await expectJson<Resource>(200, push("GET", `/Groups/${crew.id}`)))["members"]).toEqual([])
  })

  test("resolve bulkId in data and paths, before or after the resource is created", async () => {
    const { push } = await newDirectory()
    const results = await bulk(push, [
      group("crew", "bulkId:ada"),
      { method: "PATCH", path: "/Users/bulkId:ada", data: patch({ op: "add", path: "title", value: "Countess" }) },
      user("ada", { [ENTERPRISE]: { manager: { value: "bulkId:boss" } } }),
      user("boss"),
      {
        method: "PATCH",
        path: "/Groups/bulkId:crew",
        data: patch({ op: "add", path: "members", value: [{ value: "bulkId:boss" }] }),
      },
    ])
    expect(statuses(results)).toEqual(["201", "200", "201", "201", "200"])
    const [crew, , ada, boss] = results.map(idIn)
    expect(await expectJson(200, push("GET", `/Users/${ada}`))).toMatchObject({
      title: "Countess",
      [ENTERPRISE]: { manager: { value: boss } },
    })
    const { members } = await expectJson<Resource>(200, push("GET", `/Groups/${crew}`))
    expect((members as { value: string }[]).map(({ value }) => value).toSorted()).toEqual([ada, boss].toSorted())
  })

  test("return 409 for circular references and perform the rest", async () => {
    const { push } = await newDirectory()
    const manager = (bulkId: string) => ({ [ENTERPRISE]: { manager: { value: `bulkId:${bulkId}` } } })
    const results = await bulk(push, [
      user("a", manager("b")),
      user("b", manager("a")),
      user("self", manager("self")),
      group("crew", "bulkId:a"),
      user("free"),
    ])
    expect(statuses(results)).toEqual(["409", "409", "409", "409", "201"])
    expect((await expectJson<List>(200, push("GET", "/Users"))).totalResults).toBe(1)
  })

  test("return the error of a separate request for each failure, and go on", async () => {
    const { push } = await newDirectory()
    const ada = await addUser(push, "ada")
    const results = await bulk(push, [
      user("ada"),
      group("crew", "bulkId:ada"),
      group("lost", "bulkId:nobody"),
      { method: "PATCH", path: `/Users/${ada.id}`, version: 'W/"9"', data: patch({ op: "remove", path: "title" }) },
      { method: "DELETE", path: "/Users/none" },
      { method: "POST", path: "/Bulk", bulkId: "inner", data: {} },
      { method: "POST", path: "/__proto__", bulkId: "proto", data: {} },
      { method: "DELETE", path: "/Users" },
      { method: "DELETE", path: "/Users/%E0%A4%A" },
      user("large", { title: "x".repeat(140_000) }),
      user("fine"),
    ])
    expect(results.map(({ response }) => response?.status)).toEqual([
      "409",
      "409",
      "400",
      "412",
      "404",
      "404",
      "404",
      "404",
      "404",
      "413",
      undefined,
    ])
    expect(results[0]).toMatchObject({ bulkId: "ada", status: "409", response: { scimType: "uniqueness" } })
    expect(results[0]).not.toHaveProperty("location")
    expect(results[3]).toMatchObject({ location: ada.meta.location })
  })

  test.each([
    [1, ["409"]],
    [2, ["409", "201", "409"]],
    [3, ["409", "201", "409", "201"]],
  ])("stop after failOnErrors: %i", async (failOnErrors, expected) => {
    const { push } = await newDirectory()
    await addUser(push, "ada")
    const operations = [user("ada"), user("one"), { ...user("ada"), bulkId: "again" }, user("two")]
    expect(statuses(await bulk(push, operations, { failOnErrors }))).toEqual(expected)
  })

  test.each([
    ["no operations", [], {}, 400],
    ["an invalid method", [{ method: "GET", path: "/Users" }], {}, 400],
    ["POST without a bulkId", [{ method: "POST", path: "/Users", data: {} }], {}, 400],
    ["PATCH without data", [{ method: "PATCH", path: "/Users/x" }], {}, 400],
    ["a duplicate bulkId", [user("one"), user("one")], {}, 400],
    ["failOnErrors of 0", [user("one")], { failOnErrors: 0 }, 400],
  ])("are rejected completely for %s", async (_, operations, more, status) => {
    const { push } = await newDirectory()
    const body = { ...more, Operations: operations }
    expect(await expectJson(status, push("POST", "/Bulk", body))).toMatchObject({ status: String(status) })
    expect((await expectJson<List>(200, push("GET", "/Users"))).totalResults).toBe(0)
  })

  test("write an audit entry for each change", async () => {
    const { workspace, push } = await newDirectory()
    const [one] = await bulk(push, [user("one")])
    const path = `/audit?resource_id=${idIn(one as Result)}`
    const { data } = await expectJson<{ data: { action: string }[] }>(200, workspace.manage.get(path))
    expect(data.map(({ action }) => action)).toEqual(["scim_user.create"])
  })

  test("run in an order in which every resource is created before it is referenced", () => {
    const names = ["a", "b", "c", "d", "e"]
    const operation = (bulkId: string) =>
      fc
        .record({ isMade: fc.boolean(), to: fc.subarray(names, { maxLength: 2 }) })
        .map(({ isMade, to }): BulkOperation => {
          const data = { to: to.map((name) => `bulkId:${name}`) }
          return { method: isMade ? "POST" : "PATCH", bulkId, version: undefined, path: "/Users", data }
        })
    fc.assert(
      fc.property(fc.tuple(...names.map(operation)), (operations) => {
        const { order, circular } = orderOf(operations)
        expect(new Set(order)).toEqual(new Set(operations))
        expect(order).toHaveLength(operations.length)
        for (const [index, one] of order.entries()) {
          if (circular.has(one)) continue
          mapReferences(one, (bulkId) => {
            const maker = operations.find((other) => other.bulkId === bulkId && other.method === "POST")
            if (maker && !circular.has(maker)) expect(order.indexOf(maker)).toBeLessThan(index)
            return ""
          })
        }
        const next = (names: readonly string[]) =>
          operations.filter(({ bulkId, method }) => method === "POST" && names.includes(bulkId ?? "")).flatMap(to)
        for (const one of circular) {
          let reached = to(one)
          for (let hop = 0; hop < names.length; hop++) reached = [...new Set([...reached, ...next(reached)])]
          expect(reached).toContain(one.bulkId)
        }
      }),
    )
  })
})
