import { describe, expect, test } from "vitest"
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

/** Requests of real clients that RFC 7644 does not cover, or only just. */

type Failure = { detail: string; status: string; scimType?: string }
const found = (filter: string) => `?filter=${encodeURIComponent(filter)}`
const namesOf = async (push: Push, filter: string) =>
  (await expectJson<List>(200, push("GET", `/Users${found(filter)}`))).Resources.map((user) => user["userName"])

describe("a filter", () => {
  test("on a value by its type matches only that value", async () => {
    const { push } = await newDirectory()
    const emails = [
      { value: "ada@work.test", type: "work" },
      { value: "ada@home.test", type: "home" },
    ]
    const { userName } = await addUser(push, "ada", { emails })
    expect(await namesOf(push, 'emails[type eq "work"].value eq "ada@work.test"')).toEqual([userName])
    expect(await namesOf(push, 'emails[type eq "work"].value eq "ada@home.test"')).toEqual([])
    expect(await namesOf(push, 'emails[type eq "work" or type eq "home"].value ew "home.test"')).toEqual([userName])
    expect(await namesOf(push, 'userName pr and emails[type eq "work"].value pr')).toEqual([userName])
    expect(await namesOf(push, 'not (emails[type eq "home"].value sw "ada@work")')).toEqual([userName])
  })

  test.each([
    ["a backslash", String.raw`CORP\ada`, String.raw`"CORP\\ada"`],
    ["a backslash at its end", "CORP\\", String.raw`"CORP\\"`],
    ["an unescaped backslash", String.raw`CORP\ada`, String.raw`"CORP\ada"`],
    ["a quotation mark", 'Ada "the first"', String.raw`"Ada \"the first\""`],
    ["escaped letters beyond ASCII", "Zoë", String.raw`"Zo\u00eb"`],
    ["letters beyond ASCII", "中文", '"中文"'],
    ["brackets and operators", "x].value eq (and not", '"x].value eq (and not"'],
    ["an apostrophe", "O'Malley", '"O\'Malley"'],
  ])("finds %s", async (_, title, quoted) => {
    const { push } = await newDirectory()
    const { userName } = await addUser(push, "ada", { title, name: { formatted: `Dr. ${title} Jr.` } })
    expect(await namesOf(push, `title eq ${quoted}`)).toEqual([userName])
    expect(await namesOf(push, `title ne ${quoted}`)).toEqual([])
    expect(await namesOf(push, `name.formatted co ${quoted} and userName pr`)).toEqual([userName])
  })

  test("accepts true and false in any case", async () => {
    const { push } = await newDirectory()
    const { userName } = await addUser(push, "ada")
    expect(await namesOf(push, "active eq True")).toEqual([userName])
    expect(await namesOf(push, "(active eq FALSE)")).toEqual([])
  })

  test("accepts as many nested negations as the database supports", async () => {
    const { push } = await newDirectory()
    const { userName } = await addUser(push, "ada")
    const no = (times: number, inner: string) => "not (".repeat(times) + inner + ")".repeat(times)
    expect(await namesOf(push, no(38, 'emails.value co "a" or userName pr'))).toEqual([userName])
    const deep = Array.from({ length: 19 }, () => 'not (userName eq "x" or ').join("")
    expect(await namesOf(push, `${deep}userName pr${")".repeat(19)}`)).toHaveLength(0)
    for (const bomb of [no(200, "userName pr"), no(60, 'emails[type eq "work"]')]) {
      expect(await expectJson<Failure>(400, push("GET", `/Users${found(bomb)}`))).toMatchObject({
        scimType: "invalidFilter",
      })
    }
  })

  test("names an attribute of the extension without its schema, and the manager without its value", async () => {
    const { push } = await newDirectory()
    const { id, userName } = await addUser(push, "ada", {
      [ENTERPRISE]: { department: "Engines", manager: { value: "boss-1" } },
    })
    await addUser(push, "bob", { [ENTERPRISE]: { department: "Looms", manager: { value: "boss-2" } } })
    for (const manager of ["manager", `${ENTERPRISE}:manager`]) {
      expect(await namesOf(push, `id eq "${id}" and ${manager} eq "boss-1"`)).toEqual([userName])
      expect(await namesOf(push, `id eq "${id}" and ${manager} eq "boss-2"`)).toEqual([])
    }
    expect(await namesOf(push, 'department eq "engines"')).toEqual([userName])
    expect((await push("GET", `/Users${found('constructor[value eq "x"]')}`)).status).toBe(400)
  })

  test("finds letters beyond ASCII in any case and composition, and no two users have such a name", async () => {
    const { push } = await newDirectory()
    const composed = "Zo\u00eb"
    const decomposed = "Zoe\u0308"
    const { id } = await expectJson<Resource>(201, push("POST", "/Users", { schemas: [USER], userName: composed }))
    const other = await addUser(push, "other")
    for (const name of [composed, decomposed].flatMap((one) => [one, one.toLowerCase(), one.toUpperCase()])) {
      expect(await namesOf(push, `userName eq "${name}"`)).toEqual([composed])
      expect(await namesOf(push, `userName ne "${name}"`)).toEqual([other["userName"]])
      const again = push("POST", "/Users", { schemas: [USER], userName: name })
      expect(await expectJson<Failure>(409, again)).toMatchObject({ scimType: "uniqueness" })
      const change = patch({ op: "replace", path: "userName", value: name })
      await expectJson(409, push("PATCH", `/Users/${other.id}`, change))
      await expectJson(200, push("PATCH", `/Users/${id}`, change))
      await expectJson(200, push("PATCH", `/Users/${id}`, patch({ op: "replace", path: "userName", value: composed })))
    }
    expect(await namesOf(push, 'userName eq "Zoe"')).toEqual([])
  })

  test("accepts every part of an address", async () => {
    const { push } = await newDirectory()
    const { userName } = await addUser(push, "ada", { addresses: [{ type: "work", locality: "London" }] })
    expect(await namesOf(push, 'addresses[type eq "work"].locality eq "london"')).toEqual([userName])
    expect(await namesOf(push, 'addresses.country eq "UK"')).toEqual([])
  })

  test("that is empty is ignored", async () => {
    const { push } = await newDirectory()
    await addUser(push, "ada")
    expect(await expectJson<List>(200, push("GET", "/Users?filter=&sortBy="))).toMatchObject({ totalResults: 1 })
  })
})

describe("a list", () => {
  test.each(["count=2147483647", "count=99999999999999999999", "count=%2B5"])("accepts %s", async (query) => {
    const { push } = await newDirectory()
    await addUser(push, "ada")
    expect(await expectJson<List>(200, push("GET", `/Users?${query}`))).toMatchObject({
      totalResults: 1,
      itemsPerPage: 1,
    })
  })

  test("is empty beyond its end, however far", async () => {
    const { push } = await newDirectory()
    await addUser(push, "ada")
    const page = await expectJson<List>(200, push("GET", "/Users?startIndex=99999999999999999999"))
    expect(page).toMatchObject({ totalResults: 1, itemsPerPage: 0, Resources: [] })
  })
})

test("paths may end with a slash", async () => {
  const { push } = await newDirectory()
  const user = await expectJson<Resource>(
    201,
    push("POST", "/Users/", { schemas: [USER], userName: "ada@example.com" }),
  )
  expect((await expectJson<List>(200, push("GET", "/Users/"))).totalResults).toBe(1)
  expect((await expectJson<List>(200, push("POST", "/Users/.search/", { filter: "userName pr" }))).totalResults).toBe(1)
  await expectJson(200, push("GET", `/Users/${user.id}/`))
  await expectJson(200, push("PATCH", `/Users/${user.id}/`, patch({ op: "add", path: "title", value: "Lady" })))
  await expectJson(405, push("POST", `/Users/${user.id}/`, {}))
  expect((await push("DELETE", `/Users/${user.id}/`)).status).toBe(204)
  const discovery = [
    "/ServiceProviderConfig/",
    "/ResourceTypes/",
    "/ResourceTypes/User/",
    "/Schemas/",
    `/Schemas/${USER}/`,
  ]
  for (const path of discovery) await expectJson(200, push("GET", path))
  const bulk = {
    schemas: ["urn:ietf:params:scim:api:messages:2.0:BulkRequest"],
    Operations: [
      { method: "POST", path: "/Users", bulkId: "b", data: { schemas: [USER], userName: "bob@example.com" } },
    ],
  }
  expect(await expectJson(200, push("POST", "/Bulk/", bulk))).toMatchObject({ Operations: [{ status: "201" }] })
  await expectJson(405, push("GET", "/Bulk/"))
  for (const path of ["/Nothing/", "//Users"]) await expectJson(404, push("GET", path))
})

describe("a PATCH of a user", () => {
  test("may name attributes that are not stored", async () => {
    const { push } = await newDirectory()
    const { id } = await addUser(push, "ada")
    const operations = [
      { op: "Add", path: 'photos[type eq "photo"].value', value: "https://img.example/ada.png" },
      { op: "Replace", path: 'ims[type eq "xmpp"].value', value: "ada@chat.example" },
      { op: "Replace", path: "title", value: "Lady" },
    ]
    const user = await expectJson<Resource>(200, push("PATCH", `/Users/${id}`, patch(...operations)))
    expect(user).toMatchObject({ title: "Lady" })
    expect(user).not.toHaveProperty("photos")
  })

  test("may have a single value in an array, as Entra sends it", async () => {
    const { push } = await newDirectory()
    const path = `/Users/${(await addUser(push, "ada", { title: "Lady" })).id}`
    const entra = (value: string | null) => [{ $ref: null, value }]
    const operations = [
      { op: "Replace", path: "displayName", value: entra("Ada") },
      { op: "Replace", path: "name.familyName", value: entra("Lovelace") },
      { op: "Replace", path: "active", value: entra("False") },
      { op: "Replace", path: "title", value: entra(null) },
      { op: "Add", path: "manager", value: [{ $ref: "../Users/boss-1", value: "boss-1" }] },
    ]
    const user = await expectJson<Resource>(200, push("PATCH", path, patch(...operations)))
    expect(user).toMatchObject({
      displayName: "Ada",
      name: { familyName: "Lovelace" },
      active: false,
      [ENTERPRISE]: { manager: { value: "boss-1" } },
    })
    expect(user).not.toHaveProperty("title")
    const lists = patch({ op: "replace", path: "title", value: ["Lady", "Countess"] })
    await expectJson<Failure>(400, push("PATCH", path, lists))
  })

  test("deactivates although it has attributes of schemas that are not served", async () => {
    const { push } = await newDirectory()
    const path = `/Users/${(await addUser(push, "ada")).id}`
    const custom = "urn:ietf:params:scim:schemas:extension:custom:2.0:User"
    const operations = [
      { op: "Add", path: `${custom}:tag`, value: "x" },
      { op: "Replace", path: "active", value: "False" },
      { op: "Replace", value: { [custom]: { tag: "y" }, [`${custom}:other`]: "z" } },
    ]
    expect(await expectJson(200, push("PATCH", path, patch(...operations)))).toMatchObject({ active: false })
  })

  test("may use the core schema as its path", async () => {
    const { push } = await newDirectory()
    const { id } = await addUser(push, "ada")
    const change = patch({ op: "replace", path: USER, value: { title: "Lady", active: "False" } })
    expect(await expectJson(200, push("PATCH", `/Users/${id}`, change))).toMatchObject({ title: "Lady", active: false })
    const all = push("PATCH", `/Users/${id}`, patch({ op: "remove", path: USER }))
    expect(await expectJson<Failure>(400, all)).toMatchObject({ scimType: "invalidPath" })
  })
})

describe("active", () => {
  const off = patch({ op: "replace", path: "active", value: false })

  test.each([
    ["PATCH", patch({ op: "remove", path: "active" }), false],
    ["PATCH", patch({ op: "replace", path: "active", value: null }), false],
    ["PATCH", patch({ op: "replace", value: { active: null } }), false],
    ["PUT", { userName: "ada@example.com", active: null }, true],
    ["PUT", { userName: "ada@example.com" }, true],
  ])("keeps its value after %s %j", async (method, body, isReturned) => {
    const { push } = await newDirectory()
    const path = `/Users/${(await addUser(push, "ada")).id}`
    await expectJson(200, push("PATCH", path, off))
    const user = await expectJson<Resource>(200, push(method, path, body))
    expect(user["active"]).toBe(isReturned ? false : undefined)
    expect(await namesOf(push, "active eq false")).toEqual(["ada@example.com"])
    await expectJson(200, push("PATCH", path, patch({ op: "add", path: "title", value: "Lady" })))
    expect(await namesOf(push, "active eq true")).toEqual([])
    expect(
      await expectJson(200, push("PATCH", path, patch({ op: "replace", value: { active: "True" } }))),
    ).toMatchObject({
      active: true,
    })
  })
})

test("concurrent changes of one user are all applied", async () => {
  const { push } = await newDirectory()
  const { id } = await addUser(push, "busy")
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      push("PATCH", `/Users/${id}`, patch({ op: "add", path: "emails", value: [{ value: `${index}@busy.test` }] })),
    ),
  )
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200))
  const user = await expectJson<Resource>(200, push("GET", `/Users/${id}`))
  expect(user["emails"]).toHaveLength(20)
})

test("one value of a multi-valued attribute may be a list", async () => {
  const { push } = await newDirectory()
  const { id } = await addUser(push, "ada", { phoneNumbers: [{ value: "1", type: "mobile" }] })
  const change = patch({ op: "replace", path: 'phoneNumbers[type eq "mobile"]', value: [{ value: "2" }] })
  expect(await expectJson(200, push("PATCH", `/Users/${id}`, change))).toMatchObject({
    phoneNumbers: [{ value: "2", type: "mobile" }],
  })
})

test("resources can be filtered by their schemas", async () => {
  const { push } = await newDirectory()
  const ada = await addUser(push, "ada", { [ENTERPRISE]: { department: "Engines" } })
  const bob = await addUser(push, "bob")
  await addGroup(push, "Crew")
  expect(await namesOf(push, `schemas eq "${ENTERPRISE}"`)).toEqual([ada["userName"]])
  expect(await namesOf(push, `schemas eq "${USER}" and not (schemas eq "${ENTERPRISE}")`)).toEqual([bob["userName"]])
  const groups = await expectJson<List>(200, push("GET", `/Groups${found(`schemas eq "${GROUP}"`)}`))
  expect(groups.totalResults).toBe(1)
})

test("a PATCH of a group may use its schema as the path, single values in arrays, and other schemas", async () => {
  const { push } = await newDirectory()
  const ada = await addUser(push, "ada")
  const { id } = await addGroup(push, "Crew")
  const operations = [
    { op: "Replace", path: GROUP, value: { displayName: [{ $ref: null, value: "Team" }] } },
    { op: "Add", path: "urn:ietf:params:scim:schemas:extension:custom:2.0:Group:description", value: "x" },
    { op: "Add", path: `${GROUP}:members`, value: [{ $ref: null, value: ada.id }] },
  ]
  expect((await push("PATCH", `/Groups/${id}`, patch(...operations))).status).toBe(204)
  expect(await expectJson(200, push("GET", `/Groups/${id}`))).toMatchObject({
    displayName: "Team",
    members: [{ value: ada.id }],
  })
  const all = push("PATCH", `/Groups/${id}`, patch({ op: "remove", path: GROUP }))
  expect(await expectJson<Failure>(400, all)).toMatchObject({ scimType: "invalidPath" })
})

test("members of a group are writable by value only", async () => {
  const { push } = await newDirectory()
  type Described = { name: string; mutability: string; subAttributes?: Described[] }
  const { attributes } = await expectJson<{ attributes: Described[] }>(200, push("GET", `/Schemas/${GROUP}`))
  const parts = attributes.find(({ name }) => name === "members")?.subAttributes ?? []
  expect(Object.fromEntries(parts.map(({ name, mutability }) => [name, mutability]))).toEqual({
    value: "immutable",
    display: "readOnly",
    type: "immutable",
    $ref: "immutable",
  })
  const { id } = await addUser(push, "ada")
  const body = { displayName: "Crew", members: [{ value: id, display: "Somebody", type: "Robot", $ref: "x:" }] }
  expect(await expectJson(201, push("POST", "/Groups", body))).toMatchObject({
    members: [{ value: id, display: "ada@example.com", type: "User", $ref: expect.stringContaining(`/Users/${id}`) }],
  })
})

test("a group as a member of a group is rejected with the reason", async () => {
  const { push } = await newDirectory()
  const [outer, inner] = [await addGroup(push, "Crew"), await addGroup(push, "Watch")]
  const nested = { displayName: "Fleet", members: [{ value: inner.id, type: "Group" }] }
  const add = patch({ op: "Add", path: "members", value: [{ value: inner.id }] })
  for (const answer of [push("POST", "/Groups", nested), push("PATCH", `/Groups/${outer.id}`, add)]) {
    const failure = await expectJson<Failure>(400, answer)
    expect(failure).toMatchObject({ scimType: "invalidValue" })
    expect(failure.detail).toContain("groups within groups are not supported")
  }
})

test("a group accepts a thousand operations in order", async () => {
  const { push } = await newDirectory()
  const [a, b] = [await addUser(push, "a"), await addUser(push, "b")]
  const { id } = await addGroup(push, "Crew", a.id)
  const rounds = Array.from({ length: 333 }, () => [
    { op: "add", path: "members", value: [{ value: a.id }, { value: b.id }] },
    { op: "remove", path: `members[value eq "${a.id}"]` },
    { op: "replace", path: "members", value: [{ value: b.id }] },
  ])
  const last = { op: "add", path: "members", value: [{ value: a.id }] }
  expect((await push("PATCH", `/Groups/${id}`, patch(...rounds.flat(), last))).status).toBe(204)
  const group = await expectJson<Resource>(200, push("GET", `/Groups/${id}`))
  expect((group["members"] as { value: string }[]).map(({ value }) => value).toSorted()).toEqual(
    [a.id, b.id].toSorted(),
  )
})

test("a bulk request that is nested too deeply is rejected without effect", async () => {
  const { push } = await newDirectory()
  const depth = 200_000
  const data = `{"userName":"ada@example.com","x":${"[".repeat(depth)}${"]".repeat(depth)}}`
  const body = `{"Operations":[{"method":"POST","path":"/Users","bulkId":"1","data":${data}}]}`
  expect(await expectJson<Failure>(400, push("POST", "/Bulk", body))).toMatchObject({ scimType: "invalidSyntax" })
  expect(await expectJson<List>(200, push("GET", "/Users"))).toMatchObject({ totalResults: 0 })
})
