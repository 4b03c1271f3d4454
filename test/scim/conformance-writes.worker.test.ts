import { describe, expect, test } from "vitest"
import { expectClause, newStage, refused, type Request, type Row, type Stage } from "./clauses.ts"
import { ENTERPRISE, GROUP, patch, USER } from "./directory.ts"
import { watchPolicyWrites } from "../support/policy-writes.ts"

watchPolicyWrites()

const MAX = "x".repeat(1_048_577)
const toUser = ({ ada }: Stage) => `/Users/${ada.id}`
const toGroup = ({ crew }: Stage) => `/Groups/${crew.id}`
const operation =
  (...operations: object[]) =>
  (stage: Stage): Request => ["PATCH", toUser(stage), patch(...operations)]

/** Each runs in a separate directory; `then` checks what is read afterwards. */
const WRITES: [...Row, ((stage: Stage) => Promise<void>)?][] = [
  [
    "7644 3.3",
    "made: 201, where it is, its version, the whole",
    () => [
      "POST",
      "/Users",
      { schemas: [USER], userName: "new@example.com", externalId: "e", name: { formatted: "N" } },
    ],
    {
      status: 201,
      headers: {
        location: /^http:\/\/gateway\.test\/scim\/v2\/Users\/[\w-]+$/,
        etag: 'W/"1"',
        "content-type": "application/scim+json",
      },
      body: {
        id: expect.any(String),
        userName: "new@example.com",
        externalId: "e",
        meta: { resourceType: "User", version: 'W/"1"' },
      },
    },
  ],
  [
    "7644 3.1",
    "a body of application/json, in UTF-8",
    () => ["POST", "/Users", { userName: "zoë@example.com" }, { "content-type": "application/json; charset=utf-8" }],
    {
      status: 201,
      body: { userName: "zoë@example.com" },
    },
  ],
  [
    "7644 3.3",
    "what is read-only is ignored",
    () => [
      "POST",
      "/Users",
      { userName: "new@example.com", id: "mine", meta: { version: "9" }, groups: [{ value: "x" }] },
    ],
    {
      status: 201,
      body: { id: expect.not.stringMatching(/^mine$/), groups: [], meta: { version: 'W/"1"' } },
    },
  ],
  [
    "7644 3.3",
    "what is unknown is ignored",
    () => ["POST", "/Users", { userName: "new@example.com", shoeSize: 42 }],
    { status: 201, without: ["shoeSize"] },
  ],
  [
    "7643 2.1",
    "names of attributes are the same in any case",
    () => ["POST", "/Users", { USERNAME: "new@example.com", Name: { FAMILYNAME: "F" } }],
    {
      status: 201,
      body: { userName: "new@example.com", name: { familyName: "F" } },
    },
  ],
  [
    "7643 2.5",
    "null and an empty list are no value",
    () => ["POST", "/Users", { userName: "new@example.com", title: null, emails: [] }],
    { status: 201, without: ["title", "emails"] },
  ],
  [
    "7643 2.4",
    "at most one value is the primary one",
    () => [
      "POST",
      "/Users",
      {
        userName: "new@example.com",
        emails: [
          { value: "a@b.test", primary: true },
          { value: "c@d.test", primary: true },
        ],
      },
    ],
    {
      status: 201,
      body: {
        emails: [
          { value: "a@b.test", primary: false },
          { value: "c@d.test", primary: true },
        ],
      },
    },
  ],
  [
    "7643 4.1.1",
    "a password is never told",
    () => ["POST", "/Users", { userName: "new@example.com", password: "t1meMa$heen" }],
    { status: 201, without: ["password"] },
  ],
  ["7643 4.1.1", "userName is required", () => ["POST", "/Users", { schemas: [USER] }], refused(400, "invalidValue")],
  [
    "7643 4.2",
    "displayName is required",
    () => ["POST", "/Groups", { schemas: [GROUP] }],
    refused(400, "invalidValue"),
  ],
  [
    "7644 3.3",
    "a name that is taken is 409, in any case",
    () => ["POST", "/Users", { userName: "ADA@example.com" }],
    refused(409, "uniqueness"),
  ],
  [
    "7644 3.3",
    "a value of the wrong type",
    () => ["POST", "/Users", { userName: "n@example.com", active: "perhaps" }],
    refused(400, "invalidValue"),
  ],
  [
    "7644 3.5.1",
    "replaced: what is not sent is gone",
    (stage) => ["PUT", toUser(stage), { userName: "ada2@example.com", nickName: "A" }],
    {
      status: 200,
      headers: { etag: 'W/"2"', location: /\/Users\// },
      body: { userName: "ada2@example.com", nickName: "A", meta: { version: 'W/"2"' } },
      without: ["title", "name", "emails", "externalId"],
    },
  ],
  [
    "7644 3.5.1",
    "replaced: what is read-only is ignored",
    (stage) => ["PUT", toUser(stage), { userName: "ada@example.com", id: "other", groups: [], meta: {} }],
    {
      status: 200,
      body: { id: expect.not.stringMatching(/^other$/), groups: [{ display: "Crew" }] },
    },
  ],
  [
    "7644 3.5.1",
    "replaced: what is required must be sent",
    (stage) => ["PUT", toUser(stage), { title: "x" }],
    refused(400, "invalidValue"),
  ],
  ["7644 3.5.1", "PUT makes nothing", () => ["PUT", "/Users/none", { userName: "x" }], refused(404)],
  [
    "7644 3.5.1",
    "a group is replaced with its members",
    (stage) => ["PUT", toGroup(stage), { displayName: "Ship", members: [{ value: stage.bob.id }] }],
    {
      status: 200,
      body: { displayName: "Ship", members: [{ display: "bob@example.com" }] },
    },
  ],
  [
    "7644 3.5.2.1",
    "add without a path merges",
    operation({ op: "add", value: { nickName: "Ada", emails: [{ value: "third@x.test" }] } }),
    {
      status: 200,
      body: { nickName: "Ada", title: "Countess", emails: [{}, {}, { value: "third@x.test" }] },
    },
  ],
  [
    "7644 3.5.2.1",
    "add to a list appends",
    operation({ op: "add", path: "emails", value: [{ value: "third@x.test", type: "other" }] }),
    {
      status: 200,
      body: { emails: [{ type: "work" }, { type: "home" }, { type: "other" }] },
    },
  ],
  [
    "7644 3.5.2.1",
    "what a list has is not added again",
    operation({ op: "add", path: "emails", value: [{ value: "ada@home.test", type: "home" }] }),
    {
      status: 200,
      body: { emails: [{ type: "work" }, { type: "home" }] },
    },
  ],
  [
    "7644 3.5.2",
    "a new primary value takes it from the old one",
    operation({ op: "add", path: "emails", value: [{ value: "third@x.test", primary: true }] }),
    {
      status: 200,
      body: { emails: [{ primary: false }, {}, { primary: true }] },
    },
  ],
  [
    "7644 3.5.2.1",
    "add of what has one value replaces it",
    operation({ op: "add", path: "title", value: "Lady" }),
    { status: 200, body: { title: "Lady" } },
  ],
  [
    "7644 3.5.2.1",
    "add into a part",
    operation({ op: "add", path: "name.middleName", value: "K" }),
    { status: 200, body: { name: { givenName: "Ada", middleName: "K" } } },
  ],
  ["7644 3.5.2.2", "remove", operation({ op: "remove", path: "title" }), { status: 200, without: ["title"] }],
  [
    "7644 3.5.2.2",
    "remove of those that a filter chooses",
    operation({ op: "remove", path: 'emails[type eq "home"]' }),
    { status: 200, body: { emails: [{ type: "work" }] } },
  ],
  [
    "7644 3.5.2.2",
    "remove of a part of those",
    operation({ op: "remove", path: 'emails[type eq "home"].type' }),
    { status: 200, body: { emails: expect.arrayContaining([{ value: "ada@home.test" }]) } },
  ],
  [
    "7644 3.5.2.2",
    "remove of all that a filter chooses takes the list away",
    operation({ op: "remove", path: "emails[value pr]" }),
    { status: 200, without: ["emails"] },
  ],
  ["7644 3.5.2.2", "remove without a path", operation({ op: "remove" }), refused(400, "noTarget")],
  [
    "7644 3.5.2.2",
    "remove of what is required",
    operation({ op: "remove", path: "userName" }),
    refused(400, "mutability"),
  ],
  [
    "7644 3.5.2.2",
    "remove of a group's name",
    (stage) => ["PATCH", toGroup(stage), patch({ op: "remove", path: "displayName" })],
    refused(400, "mutability"),
  ],
  [
    "7644 3.5.2.3",
    "replace",
    operation({ op: "replace", path: "title", value: "Lady" }),
    { status: 200, body: { title: "Lady" } },
  ],
  [
    "7644 3.5.2.3",
    "replace without a path",
    operation({ op: "replace", value: { title: "Lady", name: { givenName: "A." } } }),
    {
      status: 200,
      body: { title: "Lady", name: { givenName: "A.", familyName: "Lovelace" } },
    },
  ],
  [
    "7644 3.5.2.3",
    "replace of a list",
    operation({ op: "replace", path: "emails", value: [{ value: "one@x.test" }] }),
    { status: 200, body: { emails: [{ value: "one@x.test" }] } },
  ],
  [
    "7644 3.5.2.3",
    "replace of a part of those that a filter chooses",
    operation({ op: "replace", path: 'emails[type eq "work"].value', value: "new@work.test" }),
    {
      status: 200,
      body: { emails: expect.arrayContaining([{ value: "new@work.test", type: "work", primary: true }]) },
    },
  ],
  [
    "7644 3.5.2.3",
    "replace of what is not there adds it",
    operation({ op: "replace", path: "nickName", value: "A" }),
    { status: 200, body: { nickName: "A" } },
  ],
  [
    "7644 3.5.2.3",
    "replace where a filter chooses nothing",
    operation({ op: "replace", path: 'emails[value sw "x"].value', value: "y" }),
    refused(400, "noTarget"),
  ],
  [
    "7644 3.5.2",
    "operations are done in order",
    operation({ op: "replace", path: "title", value: "One" }, { op: "replace", path: "title", value: "Two" }),
    { status: 200, body: { title: "Two" } },
  ],
  [
    "7644 3.5.2",
    "all or nothing",
    operation({ op: "replace", path: "title", value: "One" }, { op: "replace", path: "id", value: "x" }),
    refused(400, "mutability"),
    async (stage) => {
      expect(await (await stage.push("GET", toUser(stage))).json()).toMatchObject({
        title: "Countess",
        meta: { version: 'W/"1"' },
      })
    },
  ],
  [
    "7644 3.5.2",
    "groups of a user are read-only",
    operation({ op: "add", path: "groups", value: [{ value: "x" }] }),
    refused(400, "mutability"),
  ],
  [
    "7644 3.5.2",
    "a member is immutable",
    (stage) => [
      "PATCH",
      toGroup(stage),
      patch({ op: "replace", path: `members[value eq "${stage.ada.id}"]`, value: { value: "x" } }),
    ],
    refused(400, "mutability"),
  ],
  [
    "7644 3.5.2",
    "a path that is none",
    operation({ op: "replace", path: "a b", value: "x" }),
    refused(400, "invalidPath"),
  ],
  [
    "7644 3.5.2",
    "an attribute that is none",
    operation({ op: "replace", path: "shoeSize", value: "x" }),
    refused(400, "invalidPath"),
  ],
  [
    "7644 3.5.2",
    "a filter in a path that is none",
    operation({ op: "replace", path: "emails[type].value", value: "x" }),
    refused(400, "invalidFilter"),
  ],
  ["7644 3.5.2", "an operation that is none", operation({ op: "move", path: "title" }), refused(400, "invalidSyntax")],
  ["7644 3.5.2", "no operations", (stage) => ["PATCH", toUser(stage), patch()], refused(400, "invalidSyntax")],
  [
    "7644 3.5.2",
    "names of an operation in any case",
    (stage) => ["PATCH", toUser(stage), { OPERATIONS: [{ Op: "Replace", Path: "TITLE", Value: "Lady" }] }],
    { status: 200, body: { title: "Lady" } },
  ],
  [
    "7644 3.10",
    "a path with the URI of its schema, in any case",
    operation({ op: "replace", path: `${USER.toUpperCase()}:title`, value: "Lady" }),
    { status: 200, body: { title: "Lady" } },
  ],
  [
    "7644 3.10",
    "a path into an extension",
    operation({ op: "replace", path: `${ENTERPRISE}:department`, value: "Looms" }),
    { status: 200, body: { [ENTERPRISE]: { department: "Looms" } } },
  ],
  [
    "7644 3.5.2",
    "204 without a body where nothing of it is asked for",
    (stage) => ["PATCH", toGroup(stage), patch({ op: "replace", path: "displayName", value: "Ship" })],
    { status: 204, headers: { etag: 'W/"2"' } },
  ],
  [
    "7644 3.5.2",
    "200 with attributes that are asked for",
    (stage) => [
      "PATCH",
      `${toGroup(stage)}?attributes=displayName`,
      patch({ op: "replace", path: "displayName", value: "Ship" }),
    ],
    {
      status: 200,
      body: { displayName: "Ship" },
      without: ["members"],
    },
  ],
  [
    "7644 3.6",
    "deleted: 204, and not there any more",
    (stage) => ["DELETE", toUser(stage)],
    { status: 204 },
    async (stage) => {
      for (const method of ["GET", "DELETE"]) expect((await stage.push(method, toUser(stage))).status).toBe(404)
      expect((await stage.push("PATCH", toUser(stage), patch({ op: "remove", path: "title" }))).status).toBe(404)
      expect(await (await stage.push("GET", "/Users")).json()).toMatchObject({ totalResults: 2 })
      expect((await stage.push("POST", "/Users", { userName: "Ada@example.com" })).status).toBe(201)
    },
  ],
  [
    "7644 3.6",
    "a group that is deleted is gone from its members",
    (stage) => ["DELETE", toGroup(stage)],
    { status: 204 },
    async (stage) => {
      expect(await (await stage.push("GET", toUser(stage))).json()).toMatchObject({ groups: [] })
    },
  ],
  [
    "7644 3.13",
    "PUT, PATCH and DELETE of another version are 412",
    (stage) => ["PUT", toUser(stage), { userName: "x@example.com" }, { "if-match": 'W/"9"' }],
    refused(412),
    async (stage) => {
      const body = patch({ op: "remove", path: "title" })
      expect((await stage.push("PATCH", toUser(stage), body, { "if-match": '"9"' })).status).toBe(412)
      expect((await stage.push("DELETE", toUser(stage), undefined, { "if-match": '"9"' })).status).toBe(412)
      expect((await stage.push("DELETE", toGroup(stage), undefined, { "if-match": '"9"' })).status).toBe(412)
      expect(await (await stage.push("GET", toUser(stage))).json()).toMatchObject({ title: "Countess" })
    },
  ],
  [
    "7644 3.14",
    "PUT of the version that is there",
    (stage) => ["PUT", toUser(stage), { userName: "x@example.com" }, { "if-match": stage.ada.meta.version }],
    { status: 200, headers: { etag: 'W/"2"' } },
  ],
  [
    "7644 3.14",
    "of any version",
    (stage) => ["PATCH", toUser(stage), patch({ op: "remove", path: "title" }), { "if-match": "*" }],
    { status: 200 },
  ],
  ["7644 3.7.4", "a bulk that is too large is 413", () => ["POST", "/Bulk", { Operations: [], x: MAX }], refused(413)],
  [
    "7644 3.7.4",
    "one of too many operations is 413",
    () => [
      "POST",
      "/Bulk",
      { Operations: Array.from({ length: 301 }, () => ({ method: "DELETE", path: "/Users/x" })) },
    ],
    refused(413),
  ],
]

describe("RFC 7643 and 7644, writes", () => {
  test.each(WRITES)("%s: %s", async (_, __, request, expected, then) => {
    const stage = await newStage()
    await expectClause(stage, request(stage), expected)
    await then?.(stage)
  })
})
