import { vi } from "vitest"

type Resource = { id: string; [name: string]: unknown }
type Remote = { users: Resource[]; groups: Resource[]; fault: Fault; asked: string[]; token: string }
/** Response to send instead of the true one. `path`: with its query. */
type Fault = (path: string, remote: Remote) => Response | undefined

const remotes = new Map<string, Remote>()
const network = globalThis.fetch
export const TOKEN = "remote-directory-token-0123456789"

/** Responds to requests for directories of this suite; others are sent to the network. */
export function mockRemotes(): void {
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    const request = new Request(input, init)
    const { pathname, search } = new URL(request.url)
    const [, id = "", ...rest] = pathname.split("/")
    const remote = remotes.get(id)
    if (!remote) return network(request)
    const path = `/${rest.join("/")}`
    remote.asked.push(`${request.method} ${path}${search}`)
    if (request.headers.get("authorization") !== `Bearer ${remote.token}`) return new Response("who?", { status: 401 })
    return remote.fault(path + search, remote) ?? answer(remote, path, new URLSearchParams(search))
  })
}

function answer(remote: Remote, path: string, query: URLSearchParams): Response {
  const [, kind, id] = path.split("/")
  const all = kind === "Users" ? remote.users : remote.groups
  if (id !== undefined) {
    const found = all.find((one) => one.id === decodeURIComponent(id))
    return found ? Response.json(found) : Response.json({ status: "404" }, { status: 404 })
  }
  const [start, count] = [Number(query.get("startIndex")), Math.min(2, Number(query.get("count")))]
  return list(all.slice(start - 1, start - 1 + count), all.length, start)
}

export const list = (resources: object[], total: number, startIndex = 1) =>
  Response.json({
    schemas: ["urn:ietf:params:scim:api:messages:2.0:ListResponse"],
    totalResults: total,
    startIndex,
    itemsPerPage: resources.length,
    Resources: resources,
  })

/** A directory of the test with two resources a page, at an address that the suite's configuration allows. */
export function newRemote(users: Resource[] = [], groups: Resource[] = []): Remote & { url: string } {
  const id = crypto.randomUUID()
  const remote: Remote = { users, groups, fault: () => undefined, asked: [], token: TOKEN }
  remotes.set(id, remote)
  return Object.assign(remote, { url: `http://127.0.0.1:9/${id}` })
}

export const person = (name: string, more: object = {}): Resource => ({
  id: `r-${name}`,
  userName: `${name}@example.com`,
  ...more,
})
export const crew = (name: string, ...members: string[]): Resource => ({
  id: `g-${name}`,
  displayName: name,
  members: members.map((member) => ({ value: `r-${member}` })),
})
