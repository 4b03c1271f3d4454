import { afterEach, describe, expect, test, vi } from "vitest"
import { newKey, newWorkspace, expectJson, type Workspace } from "../support/world.ts"
import {
  addGroup,
  addUser,
  connect,
  scimClient,
  ENTERPRISE,
  GROUP,
  type List,
  newDirectory,
  patch,
  type Resource,
  USER,
} from "./directory.ts"

type Failure = { schemas: string[]; detail: string; status: string; scimType?: string }
type Members = { data: { id: string; email: string; role: string; first_name: string | null }[]; total_count: number }

const membersOf = async ({ manage }: Workspace) =>
  (await expectJson<Members>(200, manage.get("/organization/members"))).data
const found = (filter: string) => `?filter=${encodeURIComponent(filter)}`

afterEach(() => {
  vi.restoreAllMocks()
})

test("a request for what is not offered is not logged as an error", async () => {
  const { push } = await newDirectory()
  const logged = vi.spyOn(console, "error")
  for (const path of ["/Me", "", "/", "/.search/"]) await expectJson(501, push("GET", path))
  expect(logged).not.toHaveBeenCalled()
})

describe("a directory", () => {
  test("is connected with a token that is returned once, listed without it, and disconnected", async () => {
    const { workspace, id, token, push } = await newDirectory()
    expect(token).toMatch(/^scim-gw-v1-[\w-]{43}$/)
    const list = await (await workspace.manage.get("/scim/directories")).text()
    expect(list).toContain(id)
    expect(list).not.toContain(token)
    await expectJson(200, push("GET", "/ServiceProviderConfig"))
    const other = await newWorkspace()
    await expectJson(404, other.manage.delete(`/scim/directories/${id}`))
    await expectJson(403, workspace.as.get("/scim/directories"))
    await expectJson(200, workspace.manage.delete(`/scim/directories/${id}`))
    await expectJson(404, workspace.manage.delete(`/scim/directories/${id}`))
    await expectJson(401, push("GET", "/Users"))
  })

  test("keeps its users as manual members when it is disconnected", async () => {
    const { workspace, id, push } = await newDirectory()
    const user = await addUser(push, "stays")
    await addGroup(push, "G", user.id)
    await expectJson(409, workspace.manage.delete(`/organization/members/${user.id}`))
    await expectJson(200, workspace.manage.delete(`/scim/directories/${id}`))
    expect((await membersOf(workspace)).map((member) => member.id)).toContain(user.id)
    const again = await connect(workspace)
    expect((await expectJson<List>(200, again.push("GET", "/Users"))).totalResults).toBe(0)
    await expectJson(200, workspace.manage.delete(`/organization/members/${user.id}`))
  })

  test("without its token gets 401 as a SCIM error", async () => {
    const { workspace, push } = await newDirectory()
    for (const token of [undefined, "scim-gw-v1-wrong", workspace.managementKey]) {
      const refused = await scimClient(token)("GET", "/Users")
      expect(refused.headers.get("www-authenticate")).toBe("Bearer")
      const failure = await expectJson<Failure>(401, refused)
      expect(failure).toMatchObject({ schemas: ["urn:ietf:params:scim:api:messages:2.0:Error"], status: "401" })
    }
    await expectJson(404, push("GET", "/Nothing"))
    await expectJson(405, push("PATCH", "/Users", {}))
  })

  test("sees nothing of another directory or organization", async () => {
    const [one, other] = [await newDirectory(), await newDirectory()]
    const user = await addUser(one.push, "secret")
    const group = await addGroup(one.push, "Secret", user.id)
    const beside = await connect(one.workspace, "Entra")
    for (const { push } of [other, beside]) {
      for (const path of [`/Users/${user.id}`, `/Groups/${group.id}`]) {
        await expectJson(404, push("GET", path))
        await expectJson(404, push("DELETE", path))
        await expectJson(404, push("PATCH", path, patch({ op: "replace", value: { active: false, displayName: "x" } })))
        await expectJson(404, push("PUT", path, { userName: "x", displayName: "x" }))
      }
      for (const kind of ["/Users", "/Groups"]) {
        expect(await expectJson<List>(200, push("GET", kind))).toMatchObject({ totalResults: 0, Resources: [] })
      }
      const refused = push("POST", "/Groups", { displayName: "G", members: [{ value: user.id }] })
      expect(await expectJson<Failure>(400, refused)).toMatchObject({ scimType: "invalidValue" })
    }
    await expectJson(200, one.push("GET", `/Users/${user.id}`))
  })

  test("publishes its capabilities, resource types and schemas", async () => {
    const { push } = await newDirectory()
    expect(await expectJson(200, push("GET", "/ServiceProviderConfig"))).toMatchObject({
      patch: { supported: true },
      bulk: { supported: true, maxOperations: 300, maxPayloadSize: 1_048_576 },
      filter: { supported: true, maxResults: 200 },
      etag: { supported: true },
    })
    const types = await expectJson<List>(200, push("GET", "/ResourceTypes"))
    expect(types.Resources.map(({ id }) => id)).toEqual(["User", "Group"])
    const schemas = await expectJson<List>(200, push("GET", "/Schemas"))
    expect(schemas.Resources.map(({ id }) => id)).toEqual([USER, ENTERPRISE, GROUP])
    await expectJson(200, push("GET", `/Schemas/${USER}`))
    await expectJson(200, push("GET", "/ResourceTypes/Group"))
    await expectJson(404, push("GET", "/Schemas/nothing"))
  })
})

describe("users", () => {
  test("are members of the organization while they are active", async () => {
    const { workspace, push } = await newDirectory()
    const emails = [{ value: "home@example.com" }, { value: "Grace@Work.example.com", primary: true, type: "work" }]
    const name = { givenName: "Grace", familyName: "L." }
    const made = await push("POST", "/Users", {
      userName: "grace",
      externalId: "00u1",
      name,
      emails,
      password: "s3cret!",
    })
    expect(made.headers.get("location")).toMatch(/^http:\/\/gateway\.test\/scim\/v2\/Users\//)
    const user = await expectJson<Resource>(201, made)
    expect(user).toMatchObject({ schemas: [USER], userName: "grace", active: true, externalId: "00u1", name, emails })
    expect(JSON.stringify(user)).not.toContain("s3cret")
    const member = (await membersOf(workspace)).find(({ id }) => id === user.id)
    expect(member).toMatchObject({ email: "grace@work.example.com", first_name: "Grace", role: "org:member" })
    const left = push("PATCH", `/Users/${user.id}`, patch({ op: "replace", path: "active", value: false }))
    expect(await expectJson(200, left)).toMatchObject({ active: false })
    expect((await membersOf(workspace)).map(({ id }) => id)).not.toContain(user.id)
    const back = push("PATCH", `/Users/${user.id}`, patch({ op: "replace", path: "active", value: true }))
    await expectJson(200, back)
    expect((await membersOf(workspace)).map(({ id }) => id)).toContain(user.id)
    const entries = await expectJson<{ data: { action: string; key_label: string }[] }>(
      200,
      workspace.manage.get(`/audit?resource_id=${user.id}`),
    )
    expect(entries.data.map(({ action }) => action)).toEqual([
      "scim_user.update",
      "scim_user.update",
      "scim_user.create",
    ])
    expect(entries.data[0]?.key_label).toBe("scim: Okta")
    expect(JSON.stringify(entries).toLowerCase()).not.toContain("grace")
  })

  test.each(["deactivated", "deleted"])("that are %s lose their keys and memberships at once", async (how) => {
    const { workspace, push } = await newDirectory()
    const user = await addUser(push, "leaver")
    const team = await expectJson<{ data: { id: string } }>(
      201,
      workspace.manage.post("/workspaces", { name: "T", slug: `leavers-${how}` }),
    )
    const path = `/workspaces/${team.data.id}/members`
    await expectJson(200, workspace.manage.post(`${path}/add`, { user_ids: [user.id] }))
    const key = await newKey(workspace, { creator_user_id: user.id })
    const theirs = await newKey(workspace, { creator_user_id: user.id, kind: "management" })
    const other = await newKey(workspace, {})
    await expectJson(200, key.as.get("/key"))
    await expectJson(200, theirs.as.get("/keys"))
    if (how === "deleted") expect((await push("DELETE", `/Users/${user.id}`)).status).toBe(204)
    else await expectJson(200, push("PATCH", `/Users/${user.id}`, patch({ op: "Replace", value: { active: "False" } })))
    await expectJson(401, key.as.get("/key"))
    await expectJson(401, theirs.as.get("/keys"))
    await expectJson(200, other.as.get("/key"))
    expect(await expectJson(200, workspace.manage.get(path))).toEqual({ data: [], total_count: 0 })
    const { data } = await expectJson<{ data: { disabled: boolean } }>(200, workspace.manage.get(`/keys/${key.hash}`))
    expect(data.disabled).toBe(true)
    // Their keys cannot be enabled by hand either.
    await expectJson(403, workspace.manage.patch(`/keys/${key.hash}`, { disabled: false }))
    await expectJson(200, workspace.manage.patch(`/keys/${key.hash}`, { name: "of one who left" }))
    await expectJson(401, key.as.get("/key"))
    const again = await workspace.manage.post("/keys", { name: "again", creator_user_id: user.id })
    expect(await expectJson<{ error: { message: string } }>(403, again)).toMatchObject({ error: { code: 403 } })
    expect((await push("GET", `/Users/${user.id}`)).status).toBe(how === "deleted" ? 404 : 200)
  })

  test("keep their guardrails while they are inactive", async () => {
    const { workspace, push } = await newDirectory()
    const { id: userId } = await addUser(push, "grace")
    const made = workspace.manage.post("/guardrails", { name: "Rail", allowed_models: ["sim/json"] })
    const { id } = (await expectJson<{ data: { id: string } }>(201, made)).data
    const path = `/guardrails/${id}/assignments/members`
    await expectJson(200, workspace.manage.post(path, { member_user_ids: [userId] }))
    const { as, hash } = await newKey(workspace, { creator_user_id: userId })
    for (const active of [false, true]) {
      await expectJson(200, push("PATCH", `/Users/${userId}`, patch({ op: "replace", path: "active", value: active })))
    }
    await expectJson(200, workspace.manage.patch(`/keys/${hash}`, { disabled: false }))
    await expectJson(403, as.chat("sim/echo", "Hello"))
    expect(await expectJson(200, workspace.manage.get(path))).toMatchObject({ data: [{ user_id: userId }] })
  })

  test("take over the member with their email address, except an owner", async () => {
    const { workspace, push } = await newDirectory()
    const body = { user_id: "u-1", email: "known@example.com", role: "org:admin" }
    await expectJson(201, workspace.manage.post("/organization/members", body))
    const user = await addUser(push, "Known")
    expect(user.id).toBe("u-1")
    expect((await membersOf(workspace))[0]).toMatchObject({ id: "u-1", role: "org:admin" })
    await expectJson(409, workspace.manage.delete("/organization/members/u-1"))
    const owner = (await membersOf(workspace)).at(-1)
    await expectJson(200, workspace.manage.patch(`/organization/members/${owner?.id}`, { email: "owner@example.com" }))
    const replica = await addUser(push, "owner")
    expect(replica.id).toBe(owner?.id)
    expect((await push("DELETE", `/Users/${replica.id}`)).status).toBe(204)
    const inStore = await connect(await newWorkspace())
    await addUser(inStore.push, "owner")
  })

  test("take over no member whose address theirs becomes in lower case", async () => {
    const { workspace, push } = await newDirectory()
    await expectJson(
      201,
      workspace.manage.post("/organization/members", { user_id: "mike", email: "mike@example.com" }),
    )
    const emails = [{ value: "mi\u212Ae@example.com", primary: true }]
    const body = { schemas: [USER], userName: "other", active: true, emails }
    const { id } = await expectJson<{ id: string }>(201, push("POST", "/Users", body))
    expect(id).not.toBe("mike")
    expect((await membersOf(workspace)).map((member) => member.id)).toEqual(expect.arrayContaining(["mike", id]))
  })

  test("have a unique name and email address", async () => {
    const { workspace, push } = await newDirectory()
    const ada = await addUser(push, "ada")
    const bob = await addUser(push, "bob")
    const spaced = push("POST", "/Users", { userName: "spaced", emails: [{ value: " Ada@example.com " }] })
    expect(await expectJson(409, spaced)).toMatchObject({ scimType: "uniqueness" })
    const again = push("POST", "/Users", { userName: "ADA@example.com", emails: [{ value: "x@example.com" }] })
    expect(await expectJson<Failure>(409, again)).toMatchObject({ scimType: "uniqueness", status: "409" })
    const same = push("POST", "/Users", { userName: "other", emails: [{ value: "ada@example.com" }] })
    expect(await expectJson<Failure>(409, same)).toMatchObject({ scimType: "uniqueness" })
    const steal = patch({ op: "add", path: "emails", value: [{ value: "ada@example.com", primary: true }] })
    expect(await expectJson<Failure>(409, push("PATCH", `/Users/${bob.id}`, steal))).toMatchObject({
      scimType: "uniqueness",
    })
    const beside = await connect(workspace, "Entra")
    await expectJson(409, beside.push("POST", "/Users", { userName: "ada@example.com" }))
    expect(await expectJson(200, push("GET", `/Users/${ada.id}`))).toMatchObject({ userName: "ada@example.com" })
  })

  test("are changed only at the version that If-Match names", async () => {
    const { push } = await newDirectory()
    const user = await addUser(push, "versioned")
    const path = `/Users/${user.id}`
    const { version } = user.meta
    const read = await push("GET", path, undefined, { "if-none-match": version })
    expect(read.status).toBe(304)
    const body = { userName: "versioned@example.com", title: "One" }
    const changed = await push("PUT", path, body, { "if-match": version })
    expect(changed.headers.get("etag")).toBe('W/"2"')
    await expectJson(200, changed)
    for (const method of ["PUT", "PATCH", "DELETE"]) {
      const stale = method === "PATCH" ? patch({ op: "remove", path: "title" }) : body
      const refused = push(method, path, method === "DELETE" ? undefined : stale, { "if-match": version })
      expect(await expectJson<Failure>(412, refused)).toMatchObject({ status: "412" })
    }
    expect(await expectJson(200, push("GET", path))).toMatchObject({ title: "One" })
  })

  test("keep all concurrent changes", async () => {
    const { push } = await newDirectory()
    const { id } = await addUser(push, "busy")
    const fields = ["title", "nickName", "locale", "timezone"]
    const answers = await Promise.all(
      fields.map((field) => push("PATCH", `/Users/${id}`, patch({ op: "add", path: field, value: "set" }))),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    const user = await expectJson<Resource>(200, push("GET", `/Users/${id}`))
    expect(fields.map((field) => user[field])).toEqual(["set", "set", "set", "set"])
  })

  test("can be filtered, sorted and paged", async () => {
    const { push } = await newDirectory()
    for (const [index, name] of ["cy", "Ada", "bob"].entries()) {
      const more = {
        externalId: `x${index}`,
        title: index === 0 ? "Chief" : undefined,
        name: { familyName: `F${index}` },
      }
      await addUser(push, name, { ...more, emails: [{ value: `${name}@mail.test`, type: "work" }] })
    }
    const names = async (query: string) =>
      (await expectJson<List>(200, push("GET", `/Users${query}`))).Resources.map((user) =>
        (user["userName"] as string).replace("@example.com", ""),
      )
    expect(await names(found('userName eq "ADA@example.com"'))).toEqual(["Ada"])
    expect(await names(found('externalId eq "x2"'))).toEqual(["bob"])
    expect(await names(found('externalId eq "X2"'))).toEqual([])
    expect(await names(found('emails[type eq "work"].value eq "bob@mail.test"'))).toEqual(["bob"])
    expect(await names(found('emails.value co "MAIL.TEST" and not (userName sw "a")'))).toEqual(["cy", "bob"])
    expect(await names(found("title pr"))).toEqual(["cy"])
    expect(await names(found('title ne "Chief"'))).toEqual(["Ada", "bob"])
    expect(await names(found('name.familyName ew "1" or active eq false'))).toEqual(["Ada"])
    expect(await names(found('meta.created gt "2020-01-01T00:00:00Z" and userName ge "b"'))).toEqual(["cy", "bob"])
    expect(await names("?sortBy=userName")).toEqual(["Ada", "bob", "cy"])
    expect(await names("?sortBy=userName&sortOrder=descending&startIndex=2&count=1")).toEqual(["bob"])
    const none = await expectJson<List>(200, push("GET", "/Users?count=0"))
    expect(none).toMatchObject({ totalResults: 3, itemsPerPage: 0, startIndex: 1 })
    const few = await expectJson<List>(200, push("GET", "/Users?attributes=userName&startIndex=-3&count=1"))
    expect(few.Resources.map((user) => Object.keys(user).toSorted())).toEqual([["id", "schemas", "userName"]])
  })

  test.each([
    ["userName eq", "invalidFilter"],
    ['nothing eq "x"', "invalidFilter"],
    ['__proto__ eq "x"', "invalidFilter"],
    ['userName eq "x" or '.repeat(90) + 'userName eq "x"', "invalidFilter"],
    ['active eq "perhaps"', "invalidFilter"],
    ['id eq "x" or '.repeat(41) + 'id eq "x"', "invalidFilter"],
  ])("are rejected by the filter %s", async (filter, scimType) => {
    const { push } = await newDirectory()
    expect(await expectJson<Failure>(400, push("GET", `/Users${found(filter)}`))).toMatchObject({
      scimType,
      status: "400",
    })
  })

  test.each([
    ["POST", {}, 400, "invalidValue"],
    ["POST", { userName: " \t" }, 400, "invalidValue"],
    ["POST", { userName: 7, active: "perhaps" }, 400, "invalidValue"],
    ["POST", "{broken", 400, "invalidSyntax"],
    ["POST", { userName: "x".repeat(200_000) }, 413, undefined],
    ["PATCH", "{broken", 400, "invalidSyntax"],
    ["PATCH", [], 400, "invalidSyntax"],
    ["PATCH", {}, 400, "invalidSyntax"],
    ["PATCH", patch({ op: "replace", path: 7, value: "x" }), 400, "invalidPath"],
    ["PATCH", patch({ op: "replace", path: "title" }), 400, "invalidValue"],
    ["PATCH", patch({ op: "move", path: "title" }), 400, "invalidSyntax"],
    ["PATCH", patch({ op: "remove" }), 400, "noTarget"],
    ["PATCH", patch({ op: "replace", path: "id", value: "x" }), 400, "mutability"],
    ["PATCH", patch({ op: "replace", path: "__proto__.x", value: "x" }), 400, "invalidPath"],
    ["PATCH", patch({ op: "replace", path: "nothing", value: "x" }), 400, "invalidPath"],
    ["PATCH", patch({ op: "remove", path: "userName" }), 400, "mutability"],
    ["PATCH", patch({ op: "replace", path: 'emails[type ne "work"].value', value: "x" }), 400, "noTarget"],
    ["PATCH", patch({ op: "replace", path: "emails[type eq].value", value: "x" }), 400, "invalidFilter"],
  ])("are rejected: %s %j", async (method, body, status, scimType) => {
    const { push } = await newDirectory()
    const path = method === "POST" ? "/Users" : `/Users/${(await addUser(push, "refused")).id}`
    const failure = await expectJson<Failure>(status, push(method, path, body))
    expect(failure).toMatchObject({ status: String(status), ...(scimType && { scimType }) })
  })
})

describe("groups", () => {
  test("have the members that are added, removed and replaced", async () => {
    const { push } = await newDirectory()
    const [a = "", b = "", c = ""] = await Promise.all(
      ["a", "b", "c"].map(async (name) => (await addUser(push, name)).id),
    )
    const { id } = await addGroup(push, "Crew", a)
    const after = async (...operations: object[]) => {
      expect((await push("PATCH", `/Groups/${id}`, patch(...operations))).status).toBe(204)
      const group = await expectJson<Resource>(200, push("GET", `/Groups/${id}`))
      return ((group["members"] as { value: string }[] | undefined) ?? []).map(({ value }) => value).toSorted()
    }
    const all = [a, b, c].toSorted()
    expect(await after({ op: "Add", path: "members", value: [{ value: b }, { value: c }, { value: a }] })).toEqual(all)
    expect(await after({ op: "remove", path: `members[value eq "${a}"]` })).toEqual([b, c].toSorted())
    expect(await after({ op: "Remove", path: "members", value: [{ value: b }] })).toEqual([c])
    expect(await after({ op: "replace", path: "members", value: [{ value: a }] })).toEqual([a])
    const both = [
      { op: "add", path: "members", value: [{ value: b }] },
      { op: "remove", path: `members[value eq "${b}"]` },
    ]
    expect(await after(...both)).toEqual([a])
    expect(await after({ op: "add", value: { members: [{ value: c }], externalId: "e" } })).toEqual([a, c].toSorted())
    expect(await after({ op: "remove", path: "members" })).toEqual([])
    const unknown = patch({ op: "add", path: "members", value: [{ value: "nobody" }] })
    expect(await expectJson<Failure>(400, push("PATCH", `/Groups/${id}`, unknown))).toMatchObject({
      scimType: "invalidValue",
    })
    await expectJson(200, push("PUT", `/Groups/${id}`, { displayName: "Crew", members: [{ value: b }] }))
    const user = await expectJson<Resource>(200, push("GET", `/Users/${b}`))
    expect(user["groups"]).toMatchObject([{ value: id, display: "Crew" }])
    const version = (await expectJson<Resource>(200, push("GET", `/Groups/${id}`))).meta.version
    expect((await push("DELETE", `/Users/${b}`)).status).toBe(204)
    const left = await expectJson<Resource>(200, push("GET", `/Groups/${id}`))
    expect(left["members"]).toEqual([])
    expect(left.meta.version).not.toBe(version)
    await expectJson(
      412,
      push("PATCH", `/Groups/${id}`, patch({ op: "remove", path: "members" }), { "if-match": version }),
    )
    expect((await push("DELETE", `/Groups/${id}`)).status).toBe(204)
    await expectJson(404, push("GET", `/Groups/${id}`))
    expect((await expectJson<List>(200, push("GET", "/Groups"))).totalResults).toBe(0)
  })

  test("accept thousands of members in one request", async () => {
    const { workspace, id: directoryId, push } = await newDirectory()
    const { id } = await addGroup(push, "Everyone")
    const { env } = await import("cloudflare:workers")
    const ids = Array.from({ length: 2_000 }, (_, index) => `many-${index}`)
    await env.DB.prepare(
      `INSERT INTO scim_users (organization_id, id, directory_id, user_name, active, attributes, created_at, updated_at)
       SELECT ?1, value, ?2, value, 1, '{}', 0, 0 FROM json_each(?3)`,
    )
      .bind(workspace.organizationId, directoryId, JSON.stringify(ids))
      .run()
    const add = patch({ op: "add", path: "members", value: ids.map((value) => ({ value })) })
    expect((await push("PATCH", `/Groups/${id}`, add)).status).toBe(204)
    const group = await expectJson<Resource>(200, push("GET", `/Groups/${id}`))
    expect(group["members"]).toHaveLength(2_000)
    const list = await expectJson<List>(200, push("GET", "/Groups?excludedAttributes=members"))
    expect(list.Resources[0]).not.toHaveProperty("members")
    const tooMany = patch({ op: "add", path: "members", value: Array.from({ length: 10_001 }, () => ({ value: "x" })) })
    expect(await expectJson<Failure>(400, push("PATCH", `/Groups/${id}`, tooMany))).toMatchObject({
      scimType: "tooMany",
    })
  })

  test("can be filtered by name and by member", async () => {
    const { push } = await newDirectory()
    const user = await addUser(push, "one")
    await addGroup(push, "Alpha", user.id)
    await addGroup(push, "Beta")
    const names = async (filter: string) =>
      (await expectJson<List>(200, push("GET", `/Groups${found(filter)}`))).Resources.map(
        (group) => group["displayName"],
      )
    expect(await names('displayName eq "alpha"')).toEqual(["Alpha"])
    expect(await names(`members[value eq "${user.id}"]`)).toEqual(["Alpha"])
    expect(await names(`not (members.value eq "${user.id}")`)).toEqual(["Beta"])
    await expectJson(400, push("GET", `/Groups${found('userName eq "x"')}`))
  })

  test.each([
    [{}, "invalidValue"],
    [{ displayName: "  " }, "invalidValue"],
    [{ displayName: "x", members: [{ value: 7 }] }, "invalidValue"],
  ])("are rejected as %j", async (body, scimType) => {
    const { push } = await newDirectory()
    expect(await expectJson<Failure>(400, push("POST", "/Groups", body))).toMatchObject({ scimType })
  })
})
