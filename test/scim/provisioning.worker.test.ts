import { describe, expect, test } from "vitest"
import { expectJson } from "../support/world.ts"
import { ENTERPRISE, GROUP, type List, newDirectory, patch, type Resource, USER } from "./directory.ts"
import { watchPolicyWrites } from "../support/policy-writes.ts"

watchPolicyWrites()

/** Requests of the two directories, in their order and spelling, after their public documentation. */

describe("Okta", () => {
  test("imports a user, updates the profile, and deactivates and reactivates them", async () => {
    const { push } = await newDirectory("Okta")
    const query = `?filter=${encodeURIComponent('userName eq "isaac.brock@example.com"')}&startIndex=1&count=100`
    const before = await expectJson<List>(200, push("GET", `/Users${query}`))
    expect(before).toMatchObject({ totalResults: 0, startIndex: 1, itemsPerPage: 0, Resources: [] })
    const profile = {
      schemas: [USER],
      userName: "isaac.brock@example.com",
      name: { givenName: "Isaac", familyName: "Brock" },
      emails: [{ primary: true, value: "isaac.brock@example.com", type: "work" }],
      displayName: "Isaac Brock",
      locale: "en-US",
      externalId: "00ujl29u0le5T6Aj10h7",
      groups: [],
      password: "1mz050nq",
      active: true,
    }
    const user = await expectJson<Resource>(201, push("POST", "/Users", profile))
    const { password: _, ...kept } = profile
    expect(user).toMatchObject(kept)
    expect(user.meta).toMatchObject({ resourceType: "User", version: 'W/"1"' })
    const path = `/Users/${user.id}`
    await expectJson(200, push("GET", path))
    const changed = { ...user, name: { givenName: "Isaac", familyName: "Brook" }, active: true }
    expect(await expectJson(200, push("PUT", path, changed))).toMatchObject({ name: { familyName: "Brook" } })
    const off = patch({ op: "replace", value: { active: false } })
    expect(await expectJson(200, push("PATCH", path, off))).toMatchObject({ active: false, displayName: "Isaac Brock" })
    const on = patch({ op: "replace", value: { active: true } })
    expect(await expectJson(200, push("PATCH", path, on))).toMatchObject({ active: true })
    const after = await expectJson<List>(200, push("GET", `/Users${query}`))
    expect(after.Resources.map(({ id }) => id)).toEqual([user.id])
  })

  test("pushes a group, renames it, changes its members and removes it", async () => {
    const { push } = await newDirectory("Okta")
    const person = (name: string) => push("POST", "/Users", { schemas: [USER], userName: `${name}@example.com` })
    const one = await expectJson<Resource>(201, person("one"))
    const two = await expectJson<Resource>(201, person("two"))
    const query = `?filter=${encodeURIComponent('displayName eq "Test SCIM"')}&startIndex=1&count=100`
    expect((await expectJson<List>(200, push("GET", `/Groups${query}`))).totalResults).toBe(0)
    const made = { schemas: [GROUP], displayName: "Test SCIM", members: [] }
    const { id } = await expectJson<Resource>(201, push("POST", "/Groups", made))
    const renamed = patch({ op: "replace", value: { id, displayName: "Renamed" } })
    expect((await push("PATCH", `/Groups/${id}`, renamed)).status).toBe(204)
    const members = patch(
      { op: "remove", path: `members[value eq "${two.id}"]` },
      { op: "add", path: "members", value: [{ value: one.id, display: "one@example.com" }] },
    )
    expect((await push("PATCH", `/Groups/${id}`, members)).status).toBe(204)
    const group = await expectJson<Resource>(200, push("GET", `/Groups/${id}`))
    expect(group).toMatchObject({ displayName: "Renamed", members: [{ value: one.id, display: "one@example.com" }] })
    const all = patch({ op: "replace", path: "members", value: [{ value: one.id }, { value: two.id }] })
    expect((await push("PATCH", `/Groups/${id}`, all)).status).toBe(204)
    const listed = await expectJson<List>(200, push("GET", "/Groups?startIndex=1&count=100"))
    expect(listed.Resources[0]?.["members"]).toHaveLength(2)
    expect((await push("DELETE", `/Groups/${id}`)).status).toBe(204)
  })
})

describe("Entra", () => {
  test("creates a user, patches single attributes, and disables and deletes them", async () => {
    const { push } = await newDirectory("Entra")
    const unknownUser = encodeURIComponent('userName eq "non-existent user"')
    expect((await expectJson<List>(200, push("GET", `/Users?filter=${unknownUser}`))).totalResults).toBe(0)
    const user = await expectJson<Resource>(
      201,
      push("POST", "/Users", {
        schemas: [USER, ENTERPRISE],
        externalId: "0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef",
        userName: "Test_User_ab6490ee@example.com",
        active: true,
        emails: [{ primary: true, type: "work", value: "Test_User_fd0ea19b@example.com" }],
        meta: { resourceType: "User" },
        name: { formatted: "givenName familyName", familyName: "familyName", givenName: "givenName" },
        roles: [],
      }),
    )
    const path = `/Users/${user.id}`
    const changed = await expectJson<Resource>(
      200,
      push(
        "PATCH",
        path,
        patch(
          { op: "Replace", path: 'emails[type eq "work"].value', value: "updatedEmail@example.com" },
          { op: "Replace", path: "name.familyName", value: "updatedFamilyName" },
          { op: "Add", path: 'phoneNumbers[type eq "mobile"].value', value: "+1 555 0100" },
          { op: "Add", path: `${ENTERPRISE}:department`, value: "Research" },
          { op: "Add", path: `${ENTERPRISE}:manager`, value: "26118915-6090-4610-87e4-49d8ca9f808d" },
          {
            op: "Replace",
            value: { displayName: "Updated", "name.givenName": "Ada", [`${ENTERPRISE}:division`]: "D" },
          },
        ),
      ),
    )
    expect(changed).toMatchObject({
      schemas: [USER, ENTERPRISE],
      emails: [{ type: "work", value: "updatedEmail@example.com", primary: true }],
      name: { familyName: "updatedFamilyName", givenName: "Ada" },
      phoneNumbers: [{ type: "mobile", value: "+1 555 0100" }],
      displayName: "Updated",
      [ENTERPRISE]: {
        department: "Research",
        division: "D",
        manager: { value: "26118915-6090-4610-87e4-49d8ca9f808d" },
      },
    })
    const renamed = patch({ op: "Replace", path: "userName", value: "5b50642d@example.com" })
    expect(await expectJson(200, push("PATCH", path, renamed))).toMatchObject({ userName: "5b50642d@example.com" })
    const off = patch({ op: "Replace", path: "active", value: "False" })
    expect(await expectJson(200, push("PATCH", path, off))).toMatchObject({ active: false })
    const without = patch(
      { op: "Remove", path: 'phoneNumbers[type eq "mobile"].value' },
      { op: "Remove", path: ENTERPRISE },
    )
    const left = await expectJson<Resource>(200, push("PATCH", path, without))
    expect(left).not.toHaveProperty(ENTERPRISE)
    expect((await push("DELETE", path)).status).toBe(204)
    await expectJson(404, push("DELETE", path))
    await expectJson(404, push("GET", path))
  })

  test("creates a group, updates it, and adds and removes members", async () => {
    const { push } = await newDirectory("Entra")
    const user = await expectJson<Resource>(
      201,
      push("POST", "/Users", { userName: "member@example.com", active: "True" }),
    )
    const made = {
      schemas: [GROUP],
      externalId: "8aa1a0c0",
      displayName: "displayName",
      meta: { resourceType: "Group" },
    }
    const { id } = await expectJson<Resource>(201, push("POST", "/Groups", made))
    const group = await expectJson<Resource>(200, push("GET", `/Groups/${id}?excludedAttributes=members`))
    expect(group).not.toHaveProperty("members")
    const query = `?excludedAttributes=members&filter=${encodeURIComponent('displayName eq "DISPLAYNAME"')}`
    expect((await expectJson<List>(200, push("GET", `/Groups${query}`))).Resources.map((one) => one.id)).toEqual([id])
    const renamed = patch({ op: "Replace", path: "displayName", value: "1879db59" })
    expect((await push("PATCH", `/Groups/${id}`, renamed)).status).toBe(204)
    const added = patch({ op: "Add", path: "members", value: [{ $ref: null, value: user.id }] })
    expect((await push("PATCH", `/Groups/${id}`, added)).status).toBe(204)
    const stored = await expectJson<Resource>(200, push("GET", `/Groups/${id}`))
    expect(stored).toMatchObject({ displayName: "1879db59", members: [{ value: user.id }] })
    const removed = patch({ op: "Remove", path: "members", value: [{ $ref: null, value: user.id }] })
    expect((await push("PATCH", `/Groups/${id}`, removed)).status).toBe(204)
    expect((await expectJson<Resource>(200, push("GET", `/Groups/${id}`)))["members"]).toEqual([])
    expect((await push("DELETE", `/Groups/${id}`)).status).toBe(204)
  })
})
