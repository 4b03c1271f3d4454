import { env } from "cloudflare:workers"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { runSyncJob } from "../../src/scim/sync/sync.ts"
import { expectJson, type Workspace } from "../support/world.ts"
import { addGroup, addUser, connect, newDirectory, patch, type Push } from "./directory.ts"
import { runs } from "../support/runs.ts"
import { watchPolicyWrites } from "../support/policy-writes.ts"

watchPolicyWrites()

/**
 * A model of directories and mappings, compared with the gateway. Crashes are of two kinds: a write that is never
 * settled, and a sync job that stops after any step and continues later.
 */

const [USERS, GROUPS, TEAMS] = [2, 2, 2]
const user = fc.nat(USERS - 1)
const group = fc.nat(GROUPS - 1)
const team = fc.nat(TEAMS - 1)
const of = <K extends string, T extends object>(kind: K, shape: { [N in keyof T]: fc.Arbitrary<T[N]> }) =>
  fc.record({ kind: fc.constant(kind), ...shape }) as unknown as fc.Arbitrary<{ kind: K } & T>

const action = fc.oneof(
  { weight: 4, arbitrary: of("join", { user, group, on: fc.boolean() }) },
  { weight: 2, arbitrary: of("active", { user, on: fc.boolean() }) },
  { weight: 4, arbitrary: of("map", { group, team, admin: fc.boolean() }) },
  { weight: 2, arbitrary: of("unmap", { group, team, keep: fc.boolean() }) },
  { weight: 1, arbitrary: of("hand", { user, team }) },
  { weight: 1, arbitrary: of("deleteUser", { user }) },
  { weight: 1, arbitrary: of("deleteGroup", { group }) },
  { weight: 1, arbitrary: of("disconnect", {}) },
  { weight: 2, arbitrary: of("crashedJoin", { user, group, on: fc.boolean() }) },
  { weight: 2, arbitrary: of("crashedLeave", { user }) },
  { weight: 1, arbitrary: of("lost", { team }) },
  { weight: 1, arbitrary: of("stray", { user, team }) },
  { weight: 2, arbitrary: of("startJob", {}) },
  { weight: 3, arbitrary: of("oneStep", {}) },
  { weight: 3, arbitrary: of("finishJob", {}) },
)
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never

/** Every user is in every group, and one workspace is mapped from both: one step away from every case of interest. */
const START: Action[] = [
  ...Array.from({ length: USERS * GROUPS }, (_, index): Action => {
    return { kind: "join", user: index % USERS, group: Math.floor(index / USERS), on: true }
  }),
  { kind: "map", group: 0, team: 0, admin: false },
  { kind: "map", group: 1, team: 0, admin: true },
  { kind: "map", group: 0, team: 1, admin: true },
  { kind: "hand", user: 0, team: 1 },
]

class Model {
  active = new Set<string>()
  joined = new Set<string>()
  byHand = new Map<string, string>()
  mapped = new Map<string, { id: string; role: string }>()
  /** Set by a crashed write: memberships may differ until a job that began later is done. */
  isDrifted = false
  job: { id: string; sawDrift: boolean } | undefined
  /** Users deactivated by a write that crashed. */
  deactivated = new Set<string>()

  drift(): void {
    this.isDrifted = true
    if (this.job) this.job.sawDrift = true
  }

  deactivate(person: string): void {
    this.active.delete(person)
    for (const key of this.byHand.keys()) if (key.endsWith(` ${person}`)) this.byHand.delete(key)
  }

  settled(): void {
    if (!this.job?.sawDrift) {
      this.isDrifted = false
      this.deactivated.clear()
    }
    this.job = undefined
  }

  rolesIn(place: string, people: readonly string[], groups: readonly string[]): Record<string, string> {
    const roles: Record<string, string> = {}
    for (const person of people) {
      const given = groups.flatMap((one) => {
        const mapping = this.mapped.get(`${one} ${place}`)
        return mapping && this.active.has(person) && this.joined.has(`${one} ${person}`) ? [mapping.role] : []
      })
      const own = this.byHand.get(`${place} ${person}`)
      const all = own === undefined ? given : [...given, own]
      if (all.length > 0) roles[person] = all.includes("admin") ? "admin" : "member"
    }
    return roles
  }
}

type Stage = {
  workspace: Workspace
  push: Push
  directoryId: string
  people: string[]
  groups: string[]
  places: string[]
  model: Model
}

let slugs = 0
const addPeople = async (push: Push) => {
  const people: string[] = []
  for (let index = 0; index < USERS; index++) people.push((await addUser(push, `p${index}`)).id)
  return people
}
const addGroups = async (push: Push) => {
  const groups: string[] = []
  for (let index = 0; index < GROUPS; index++) groups.push((await addGroup(push, `g${index}`)).id)
  return groups
}

async function newStage(): Promise<Stage> {
  const { workspace, push, id: directoryId } = await newDirectory()
  const places: string[] = []
  for (let index = 0; index < TEAMS; index++) {
    type Made = { data: { id: string } }
    const made = workspace.manage.post("/workspaces", { name: "T", slug: `modelled-${slugs++}` })
    places.push((await expectJson<Made>(201, made)).data.id)
  }
  const [people, groups] = [await addPeople(push), await addGroups(push)]
  const model = new Model()
  model.active = new Set(people)
  return { workspace, push, directoryId, people, groups, places, model }
}

const sql = (text: string, ...values: unknown[]) =>
  env.DB.prepare(text)
    .bind(...values)
    .run()

async function work({ workspace }: Stage, id: string, steps?: number): Promise<void> {
  await sql("UPDATE scim_sync_jobs SET leased_until = 0 WHERE id = ?", id)
  await runSyncJob(env, workspace.organizationId, id, steps)
}

const jobOf = async ({ workspace }: Stage, id: string) =>
  (await expectJson<{ data: { status: string } }>(200, workspace.manage.get(`/scim/sync-jobs/${id}`))).data

async function act(stage: Stage, one: Action): Promise<void> {
  const { workspace, push, model, people, groups, places, directoryId } = stage
  const person = people["user" in one ? one.user : 0] ?? ""
  const crew = groups["group" in one ? one.group : 0] ?? ""
  const place = places["team" in one ? one.team : 0] ?? ""
  const remember = (on: boolean) => void model.joined[on ? "add" : "delete"](`${crew} ${person}`)
  switch (one.kind) {
    case "join": {
      const change = one.on
        ? { op: "add", path: "members", value: [{ value: person }] }
        : { op: "remove", path: `members[value eq "${person}"]` }
      expect((await push("PATCH", `/Groups/${crew}`, patch(change))).status).toBe(204)
      return remember(one.on)
    }
    case "crashedJoin":
      model.drift()
      remember(one.on)
      return void (await (one.on
        ? sql("INSERT OR IGNORE INTO scim_group_members VALUES (?, ?, ?)", crew, person, workspace.organizationId)
        : sql("DELETE FROM scim_group_members WHERE group_id = ? AND user_id = ?", crew, person)))
    case "crashedLeave":
      model.drift()
      model.deactivated.add(person)
      model.deactivate(person)
      return void (await sql(
        "UPDATE scim_users SET active = 0 WHERE organization_id = ? AND id = ?",
        workspace.organizationId,
        person,
      ))
    case "lost":
      model.drift()
      return void (await sql("DELETE FROM workspace_members WHERE workspace_id = ? AND source = 'scim'", place))
    case "stray":
      model.drift()
      return void (await sql(
        `INSERT INTO workspace_members (workspace_id, organization_id, user_id, role, source, created_at)
         SELECT ?, organization_id, user_id, 'admin', 'scim', 0 FROM members WHERE organization_id = ? AND user_id = ?
         ON CONFLICT DO UPDATE SET role = 'admin'`,
        place,
        workspace.organizationId,
        person,
      ))
    case "active": {
      if (model.deactivated.has(person)) return
      await expectJson(200, push("PATCH", `/Users/${person}`, patch({ op: "replace", value: { active: one.on } })))
      return one.on ? void model.active.add(person) : model.deactivate(person)
    }
    case "map": {
      const role = one.admin ? "admin" : "member"
      const known = model.mapped.get(`${crew} ${place}`)
      if (known) await expectJson(200, workspace.manage.patch(`/scim/group-mappings/${known.id}`, { role }))
      const input = { scim_group_id: crew, workspace_id: place, role }
      type Made = { data: { id: string } }
      const { id } = known ?? (await expectJson<Made>(200, workspace.manage.post("/scim/group-mappings", input))).data
      return void model.mapped.set(`${crew} ${place}`, { id, role })
    }
    case "unmap": {
      const known = model.mapped.get(`${crew} ${place}`)
      if (!known) return
      await expectJson(200, workspace.manage.delete(`/scim/group-mappings/${known.id}?keep_members=${one.keep}`))
      model.mapped.delete(`${crew} ${place}`)
      for (const id of one.keep ? people : []) {
        const [isIn, key] = [model.active.has(id) && model.joined.has(`${crew} ${id}`), `${place} ${id}`]
        if (isIn && !model.byHand.has(key)) model.byHand.set(key, known.role)
      }
      return
    }
    case "hand":
      if (!model.active.has(person) || model.byHand.has(`${place} ${person}`)) return
      await expectJson(200, workspace.manage.post(`/workspaces/${place}/members/add`, { user_ids: [person] }))
      return void model.byHand.set(`${place} ${person}`, "member")
    case "deleteUser": {
      expect((await push("DELETE", `/Users/${person}`)).status).toBe(204)
      model.deactivate(person)
      model.deactivated.delete(person)
      for (const id of groups) model.joined.delete(`${id} ${person}`)
      const { id } = await addUser(push, `p${one.user}`)
      people[one.user] = id
      return void model.active.add(id)
    }
    case "deleteGroup":
      expect((await push("DELETE", `/Groups/${crew}`)).status).toBe(204)
      for (const id of places) model.mapped.delete(`${crew} ${id}`)
      return void (groups[one.group] = (await addGroup(push, `g${one.group}`)).id)
    case "disconnect": {
      // Settles a crashed write first: a deleted directory cannot be synced any more.
      if (model.isDrifted) return
      await expectJson(200, workspace.manage.delete(`/scim/directories/${directoryId}`))
      model.mapped.clear()
      model.joined.clear()
      expect(await shownRoles(stage)).toEqual(expected(stage))
      const next = await connect(workspace)
      stage.push = next.push
      stage.directoryId = next.id
      stage.people = await addPeople(next.push)
      stage.groups = await addGroups(next.push)
      return void (model.active = new Set(stage.people))
    }
    case "startJob": {
      if (model.job) return
      const id = crypto.randomUUID()
      model.job = { id, sawDrift: false }
      return void (await sql(
        `INSERT INTO scim_sync_jobs (id, organization_id, status, phase, position, created_at)
         VALUES (?, ?, 'queued', 'users', '', 0)`,
        id,
        workspace.organizationId,
      ))
    }
    case "oneStep":
    case "finishJob": {
      if (!model.job) return
      await work(stage, model.job.id, one.kind === "oneStep" ? 1 : undefined)
      const { status } = await jobOf(stage, model.job.id)
      if (one.kind === "finishJob") expect(status).toBe("succeeded")
      if (status === "succeeded") model.settled()
    }
  }
}

async function shownRoles({ workspace, places }: Stage): Promise<Record<string, string>[]> {
  const shownRoles: Record<string, string>[] = []
  for (const place of places) {
    type Members = { data: { user_id: string; role: string }[] }
    const { data } = await expectJson<Members>(200, workspace.manage.get(`/workspaces/${place}/members?limit=100`))
    shownRoles.push(Object.fromEntries(data.map((member) => [member.user_id, member.role])))
  }
  return shownRoles
}

const expected = ({ places, people, groups, model }: Stage) =>
  places.map((place) => model.rolesIn(place, people, groups))

test("memberships always equal those of directory, mappings and manual changes, through crashes and deletions", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 4, maxLength: 16 }), async (actions) => {
      const stage = await newStage()
      for (const one of START) await act(stage, one)
      for (const one of actions) {
        await act(stage, one)
        if (!stage.model.isDrifted) expect(await shownRoles(stage)).toEqual(expected(stage))
      }
      // In the end a job that begins after all changes settles what is left.
      for (const last of ["finishJob", "startJob", "finishJob"] as const) await act(stage, { kind: last })
      expect(stage.model.isDrifted).toBe(false)
      expect(await shownRoles(stage)).toEqual(expected(stage))
    }),
    { numRuns: runs(0.4) },
  )
})
