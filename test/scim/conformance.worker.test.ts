import { beforeAll, describe, expect, test } from "vitest"
import { LIST, expectClause, newStage, refused, type Row, SEARCH, type Stage } from "./clauses.ts"
import { ENTERPRISE, GROUP, USER } from "./directory.ts"

const filtered = (filter: string) => `/Users?filter=${encodeURIComponent(filter)}`
const finds = (section: string, clause: string, filter: string, names: string[]): Row => [
  section,
  `${clause}: ${filter}`,
  () => ["GET", filtered(filter)],
  { status: 200, names },
]
const refuses = (section: string, clause: string, filter: string): Row => [
  section,
  `${clause}: ${filter}`,
  () => ["GET", filtered(filter)],
  refused(400, "invalidFilter"),
]

/** These change nothing, and share a directory. */
const READS: Row[] = [
  [
    "7643 3.1",
    "meta tells type, times, location and version",
    ({ ada }) => ["GET", `/Users/${ada.id}`],
    {
      status: 200,
      body: {
        meta: {
          resourceType: "User",
          created: expect.stringMatching(/^\d{4}-.*Z$/),
          lastModified: expect.stringMatching(/^\d{4}-.*Z$/),
          location: expect.stringMatching(/^http:\/\/gateway\.test\/scim\/v2\/Users\//),
          version: 'W/"1"',
        },
      },
    },
  ],
  [
    "7643 3.3",
    "schemas names the core schema and the extension that is used",
    ({ ada }) => ["GET", `/Users/${ada.id}`],
    {
      status: 200,
      body: { schemas: [USER, ENTERPRISE], [ENTERPRISE]: { department: "Engines" } },
    },
  ],
  [
    "7643 4.1.2",
    "a user tells the groups it is in",
    ({ ada }) => ["GET", `/Users/${ada.id}`],
    {
      status: 200,
      body: { groups: [{ display: "Crew", type: "direct", $ref: expect.stringContaining("/Groups/") }] },
    },
  ],
  [
    "7643 4.2",
    "a group tells its members by value and $ref",
    ({ crew }) => ["GET", `/Groups/${crew.id}`],
    {
      status: 200,
      body: {
        schemas: [GROUP],
        members: [{ display: "Ada@example.com", type: "User", $ref: expect.stringContaining("/Users/") }],
      },
    },
  ],
  [
    "7643 5",
    "the configuration is told to whoever asks",
    () => ["GET", "/ServiceProviderConfig", undefined, { authorization: "" }],
    {
      status: 200,
      body: {
        patch: { supported: true },
        bulk: { supported: true, maxOperations: 300, maxPayloadSize: 1_048_576 },
        filter: { supported: true, maxResults: 200 },
        changePassword: { supported: false },
        sort: { supported: true },
        etag: { supported: true },
        authenticationSchemes: [{ type: "oauthbearertoken", primary: true }],
      },
    },
  ],
  [
    "7643 6",
    "resource types name their endpoint, schema and extensions",
    () => ["GET", "/ResourceTypes/User"],
    {
      status: 200,
      body: { endpoint: "/Users", schema: USER, schemaExtensions: [{ schema: ENTERPRISE, required: false }] },
    },
  ],
  [
    "7643 7",
    "a schema tells the characteristics of its attributes",
    () => ["GET", `/Schemas/${USER}`],
    {
      status: 200,
      body: {
        attributes: expect.arrayContaining([
          expect.objectContaining({
            name: "userName",
            type: "string",
            required: true,
            uniqueness: "server",
            caseExact: false,
          }),
          expect.objectContaining({ name: "groups", mutability: "readOnly", multiValued: true }),
        ]),
      },
    },
  ],
  [
    "7643 7",
    "members of groups are immutable",
    () => ["GET", `/Schemas/${GROUP}`],
    {
      status: 200,
      body: {
        attributes: expect.arrayContaining([
          expect.objectContaining({
            name: "members",
            subAttributes: expect.arrayContaining([
              expect.objectContaining({ name: "value", mutability: "immutable" }),
            ]),
          }),
        ]),
      },
    },
  ],
  [
    "7643 2.1",
    "URIs of schemas are the same in any case",
    () => ["GET", `/Schemas/${USER.toUpperCase()}`],
    {
      status: 200,
      body: { id: USER },
    },
  ],
  [
    "7644 2",
    "no token is 401, with a challenge",
    () => ["GET", "/Users", undefined, { authorization: "" }],
    {
      ...refused(401),
      headers: { "www-authenticate": "Bearer" },
    },
  ],
  [
    "7644 2",
    "a token that is none is 401",
    () => ["GET", "/Users", undefined, { authorization: "Bearer none" }],
    refused(401),
  ],
  [
    "7644 3.1",
    "answers are application/scim+json",
    ({ ada }) => ["GET", `/Users/${ada.id}`],
    {
      status: 200,
      headers: { "content-type": "application/scim+json" },
    },
  ],
  [
    "7644 3.8",
    "plain JSON for who asks for it alone",
    ({ ada }) => ["GET", `/Users/${ada.id}`, undefined, { accept: "application/json" }],
    {
      status: 200,
      headers: { "content-type": "application/json" },
    },
  ],
  [
    "7644 3.8",
    "SCIM's own type where both are taken",
    ({ ada }) => ["GET", `/Users/${ada.id}`, undefined, { accept: "application/json, application/scim+json" }],
    {
      status: 200,
      headers: { "content-type": "application/scim+json" },
    },
  ],
  [
    "7644 3.1",
    "a body of another type is 415",
    () => ["POST", "/Users", "<user/>", { "content-type": "text/xml" }],
    refused(415),
  ],
  ["7644 3.2", "a path that is none is 404", () => ["GET", "/Devices"], refused(404)],
  [
    "7644 3.2",
    "a method that a path does not take is 405",
    () => ["DELETE", "/Users"],
    { ...refused(405), headers: { allow: "GET, POST" } },
  ],
  [
    "7644 3.4.1",
    "a resource is read at its location, with its entity tag",
    ({ ada }) => ["GET", `/Users/${ada.id}`],
    {
      status: 200,
      body: { userName: "Ada@example.com", externalId: "EX-1", active: true },
      headers: { etag: 'W/"1"', location: /\/Users\// },
    },
  ],
  [
    "7644 3.4.1",
    "one that is not there is 404",
    () => ["GET", "/Users/2819c223-7f76-453a-919d-413861904646"],
    refused(404),
  ],
  [
    "7644 3.4.2",
    "a list says how many there are, and which these are",
    () => ["GET", "/Users"],
    {
      status: 200,
      body: { schemas: [LIST], totalResults: 3, startIndex: 1, itemsPerPage: 3 },
      names: ["Ada", "bob", "cy"],
    },
  ],
  [
    "7644 3.4.2",
    "nothing found is an empty list, not 404",
    () => ["GET", filtered('userName eq "nobody"')],
    {
      status: 200,
      body: { totalResults: 0, itemsPerPage: 0, Resources: [] },
    },
  ],
  ["7644 3.4.2.1", "a list of all types may be left out: 501", () => ["GET", ""], refused(501)],
  finds(
    "7644 3.4.2.2",
    "eq, without regard to case where an attribute is not caseExact",
    'userName eq "ADA@EXAMPLE.COM"',
    ["Ada"],
  ),
  finds("7644 3.4.2.2", "eq, with regard to it where one is", 'externalId eq "ex-1"', []),
  finds("7644 3.4.2.2", "eq of a boolean", "active eq false", ["bob"]),
  finds("7644 3.4.2.2", "eq null", "title eq null", ["bob", "cy"]),
  finds("7644 3.4.2.2", "ne", 'title ne "countess"', ["bob", "cy"]),
  finds("7644 3.4.2.2", "co", 'name.familyName co "VELA"', ["Ada"]),
  finds("7644 3.4.2.2", "sw", 'userName sw "b"', ["bob"]),
  finds("7644 3.4.2.2", "ew", 'name.familyName ew "bage"', ["bob"]),
  finds("7644 3.4.2.2", "pr", "title pr", ["Ada"]),
  finds("7644 3.4.2.2", "pr of what has parts", "name pr", ["Ada", "bob"]),
  finds("7644 3.4.2.2", "pr of what has several values", "emails pr", ["Ada", "cy"]),
  finds("7644 3.4.2.2", "gt, in the order of words", 'userName gt "b"', ["bob", "cy"]),
  finds("7644 3.4.2.2", "ge", 'userName ge "bob@example.com"', ["bob", "cy"]),
  finds("7644 3.4.2.2", "lt", 'userName lt "bob@example.com"', ["Ada"]),
  finds("7644 3.4.2.2", "le", 'userName le "bob@example.com"', ["Ada", "bob"]),
  finds("7644 3.4.2.2", "gt, in the order of times", 'meta.lastModified gt "2011-05-13T04:42:34Z"', [
    "Ada",
    "bob",
    "cy",
  ]),
  finds("7644 3.4.2.2", "lt, in the order of times", 'meta.created lt "2011-05-13T04:42:34Z"', []),
  finds("7644 3.4.2.2", "and before or", 'title pr or active eq false and userName sw "x"', ["Ada"]),
  finds("7644 3.4.2.2", "grouping", '(title pr or active eq false) and userName sw "b"', ["bob"]),
  finds("7644 3.4.2.2", "not", "not (title pr)", ["bob", "cy"]),
  finds("7644 3.4.2.2", "operators in any case", 'userName EQ "bob@example.com" OR Title PR', ["Ada", "bob"]),
  finds("7644 3.4.2.2", "names in any case", 'USERNAME eq "bob@example.com"', ["bob"]),
  finds("7644 3.10", "names with the URI of their schema", `${USER}:userName eq "bob@example.com"`, ["bob"]),
  finds("7644 3.10", "names of an extension", `${ENTERPRISE}:department eq "engines"`, ["Ada"]),
  finds("7644 3.10", "parts in an extension", `${ENTERPRISE}:manager.value eq "boss-1"`, ["Ada"]),
  finds("7644 3.4.2.2", "a list by the value of any of its items", 'emails eq "ada@home.test"', ["Ada"]),
  finds("7644 3.4.2.2", "a part of a list", 'emails.type eq "home"', ["Ada", "cy"]),
  finds("7644 3.4.2.2", "a value path holds for one item", 'emails[type eq "work" and value co "@home.test"]', []),
  finds("7644 3.4.2.2", "a value path that does", 'emails[type eq "home" and value co "@home.test"]', ["Ada", "cy"]),
  finds("7644 3.4.2.2", "a value path beside others", 'emails[type eq "work"] and active eq true', ["Ada"]),
  finds("7644 3.4.2.2", "primary", "emails[primary eq true]", ["Ada"]),
  finds("7644 3.4.2.2", "the type of a resource", 'meta.resourceType eq "User" and userName sw "c"', ["cy"]),
  finds("7644 3.4.2.2", "an entity tag", 'meta.version eq "W/\\"1\\"" and userName sw "c"', ["cy"]),
  finds("7644 3.4.2.2", "quotes within words", 'userName eq "a\\"b"', []),
  [
    "7644 3.4.2.2",
    "users by their group",
    ({ crew }) => ["GET", filtered(`groups.value eq "${crew.id}"`)],
    { status: 200, names: ["Ada"] },
  ],
  [
    "7644 3.4.2.2",
    "groups by their members",
    ({ ada }) => ["GET", `/Groups?filter=${encodeURIComponent(`members[value eq "${ada.id}"]`)}`],
    {
      status: 200,
      names: ["Crew"],
    },
  ],
  [
    "7644 3.4.2.2",
    "groups without one",
    ({ bob }) => ["GET", `/Groups?filter=${encodeURIComponent(`members.value eq "${bob.id}"`)}`],
    { status: 200, names: [] },
  ],
  refuses("7644 3.4.2.2", "an operator that is none", 'userName like "a"'),
  refuses("7644 3.4.2.2", "an attribute that is none", 'shoeSize eq "42"'),
  refuses("7644 3.4.2.2", "what is unfinished", "userName eq"),
  refuses("7644 3.4.2.2", "what goes on after its end", 'userName eq "a" "b"'),
  refuses("7644 3.4.2.2", "a bracket that stays open", '(userName eq "a"'),
  refuses("7644 3.4.2.2", "a boolean in an order", "active gt true"),
  refuses("7644 3.4.2.2", "a time that is none", 'meta.created gt "yesterday"'),
  refuses("7644 3.4.2.2", "what has parts, compared as a whole", 'name eq "Ada"'),
  [
    "7644 3.4.2.3",
    "sorted, upwards where nothing is said",
    () => ["GET", "/Users?sortBy=userName"],
    { status: 200, names: ["Ada", "bob", "cy"] },
  ],
  [
    "7644 3.4.2.3",
    "sorted downwards",
    () => ["GET", "/Users?sortBy=userName&sortOrder=descending"],
    { status: 200, names: ["cy", "bob", "Ada"] },
  ],
  [
    "7644 3.4.2.3",
    "upwards, what has no value comes last",
    () => ["GET", "/Users?sortBy=name.familyName"],
    { status: 200, names: ["bob", "Ada", "cy"] },
  ],
  [
    "7644 3.4.2.3",
    "downwards, it comes first",
    () => ["GET", "/Users?sortBy=name.familyName&sortOrder=descending"],
    { status: 200, names: ["cy", "Ada", "bob"] },
  ],
  [
    "7644 3.4.2.3",
    "of several values the primary one, else the first, counts",
    () => ["GET", "/Users?sortBy=emails.value"],
    { status: 200, names: ["Ada", "cy", "bob"] },
  ],
  [
    "7644 3.4.2.3",
    "names in any case, with their schema",
    () => ["GET", `/Users?sortBy=${USER}:USERNAME`],
    { status: 200, names: ["Ada", "bob", "cy"] },
  ],
  [
    "7644 3.4.2.3",
    "by an attribute that is none",
    () => ["GET", "/Users?sortBy=shoeSize"],
    refused(400, "invalidPath"),
  ],
  [
    "7644 3.4.2.4",
    "a page begins at startIndex, from 1",
    () => ["GET", "/Users?startIndex=2&count=1"],
    {
      status: 200,
      body: { totalResults: 3, startIndex: 2, itemsPerPage: 1 },
      names: ["bob"],
    },
  ],
  [
    "7644 3.4.2.4",
    "a startIndex below 1 is 1",
    () => ["GET", "/Users?startIndex=0&count=1"],
    { status: 200, body: { startIndex: 1 }, names: ["Ada"] },
  ],
  [
    "7644 3.4.2.4",
    "a negative count is 0",
    () => ["GET", "/Users?count=-4"],
    { status: 200, body: { totalResults: 3, itemsPerPage: 0, Resources: [] } },
  ],
  [
    "7644 3.4.2.4",
    "count 0 tells the total alone",
    () => ["GET", "/Users?count=0"],
    { status: 200, body: { totalResults: 3, itemsPerPage: 0 } },
  ],
  [
    "7644 3.4.2.4",
    "a page beyond the end is empty",
    () => ["GET", "/Users?startIndex=9"],
    { status: 200, body: { totalResults: 3, itemsPerPage: 0, Resources: [] } },
  ],
  [
    "7644 3.4.2.4",
    "more than the service gives is what it gives",
    () => ["GET", "/Users?count=1000000"],
    { status: 200, body: { itemsPerPage: 3 } },
  ],
  ["7644 3.4.2.4", "what is no number is refused", () => ["GET", "/Users?count=many"], refused(400, "invalidValue")],
  [
    "7644 3.4.3",
    "a search is a list by POST",
    () => [
      "POST",
      "/Users/.search",
      {
        schemas: [SEARCH],
        attributes: ["userName", "active"],
        filter: "active eq true",
        sortBy: "userName",
        sortOrder: "descending",
        startIndex: 1,
        count: 1,
      },
    ],
    {
      status: 200,
      body: {
        schemas: [LIST],
        totalResults: 2,
        itemsPerPage: 1,
        Resources: [{ userName: "cy@example.com", active: true }],
      },
      names: ["cy"],
    },
  ],
  [
    "7644 3.4.3",
    "of groups, too",
    () => [
      "POST",
      "/Groups/.search",
      { schemas: [SEARCH], filter: 'displayName sw "c"', excludedAttributes: ["members"] },
    ],
    {
      status: 200,
      names: ["Crew"],
      without: ["members"],
    },
  ],
  [
    "7644 3.4.3",
    "with a filter that is none",
    () => ["POST", "/Users/.search", { schemas: [SEARCH], filter: "(" }],
    refused(400, "invalidFilter"),
  ],
  ["7644 3.4.3", "of all types may be left out: 501", () => ["POST", "/.search", { schemas: [SEARCH] }], refused(501)],
  [
    "7644 3.9",
    "attributes are told alone, with id and schemas",
    ({ ada }) => ["GET", `/Users/${ada.id}?attributes=userName,emails.value`],
    {
      status: 200,
      body: {
        userName: "Ada@example.com",
        emails: [{ value: "ada@work.test" }, { value: "ada@home.test" }],
        id: expect.any(String),
        schemas: [USER, ENTERPRISE],
      },
      without: ["title", "meta", "name", "groups", "type", "primary"],
    },
  ],
  [
    "7644 3.9",
    "attributes in any case, with their schema",
    ({ ada }) => ["GET", `/Users/${ada.id}?attributes=${USER}:NAME.familyname,${ENTERPRISE}:department`],
    {
      status: 200,
      body: { name: { familyName: "Lovelace" }, [ENTERPRISE]: { department: "Engines" } },
      without: ["givenName", "manager", "title"],
    },
  ],
  [
    "7644 3.9",
    "excludedAttributes are left out, by parts as well",
    ({ ada }) => ["GET", `/Users/${ada.id}?excludedAttributes=emails,name.givenName,groups`],
    {
      status: 200,
      body: { name: { familyName: "Lovelace" }, title: "Countess" },
      without: ["emails", "givenName", "groups"],
    },
  ],
  [
    "7644 3.9",
    "what is always told cannot be left out",
    ({ ada }) => ["GET", `/Users/${ada.id}?excludedAttributes=id,schemas`],
    {
      status: 200,
      body: { id: expect.any(String), schemas: [USER, ENTERPRISE] },
    },
  ],
  [
    "7644 3.9",
    "an attribute that is none is not told",
    ({ ada }) => ["GET", `/Users/${ada.id}?attributes=shoeSize`],
    { status: 200, without: ["userName", "meta"] },
  ],
  ["7644 3.11", "/Me may be left out: 501", () => ["GET", "/Me"], refused(501)],
  ["7644 3.12", "an error has its status as a string, and words", () => ["GET", "/Users/none"], refused(404)],
  ["7644 3.12", "a body that is no JSON", () => ["POST", "/Users", "{"], refused(400, "invalidSyntax")],
  [
    "7644 3.14",
    "an unchanged resource is 304",
    ({ ada }) => ["GET", `/Users/${ada.id}`, undefined, { "if-none-match": 'W/"1"' }],
    { status: 304, headers: { etag: 'W/"1"' } },
  ],
  [
    "7644 3.14",
    "a strong tag is compared like a weak one",
    ({ ada }) => ["GET", `/Users/${ada.id}`, undefined, { "if-none-match": '"0", "1"' }],
    { status: 304 },
  ],
  [
    "7644 3.14",
    "a changed one is told",
    ({ crew }) => ["GET", `/Groups/${crew.id}`, undefined, { "if-none-match": 'W/"7"' }],
    { status: 200 },
  ],
  [
    "7644 3.14",
    "a group that is unchanged is 304",
    ({ crew }) => ["GET", `/Groups/${crew.id}`, undefined, { "if-none-match": crew.meta.version }],
    { status: 304 },
  ],
  [
    "7644 4",
    "resource types are a list",
    () => ["GET", "/ResourceTypes"],
    { status: 200, body: { schemas: [LIST], totalResults: 2, Resources: [{ name: "User" }, { name: "Group" }] } },
  ],
  [
    "7644 4",
    "schemas are a list",
    () => ["GET", "/Schemas"],
    { status: 200, body: { schemas: [LIST], totalResults: 3 } },
  ],
  ...["/ServiceProviderConfig", "/ResourceTypes", "/Schemas"].flatMap((path): Row[] => [
    [
      "7644 4",
      `a filter on ${path} is 403`,
      () => ["GET", `${path}?filter=${encodeURIComponent('name eq "User"')}`],
      refused(403),
    ],
    ["7644 4", `${path} is read only`, () => ["POST", path, {}], { ...refused(405), headers: { allow: "GET" } }],
  ]),
]

describe("RFC 7643 and 7644, reads", () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await newStage()
  })

  test.each(READS)("%s: %s", async (_, __, request, expected) => {
    await expectClause(stage, request(stage), expected)
  })
})
