import { env } from "cloudflare:workers"
import { runSyncJob } from "../../src/scim/sync/sync.ts"
import { expectJson, newWorkspace, type Workspace } from "../support/world.ts"
import { queueSyncJob } from "./directory.ts"
import { type newRemote, person, TOKEN } from "./remote.ts"

/** Sync jobs of pulled directories, and what they leave in the database. */

export type Job = {
  id: string
  status: string
  synced_groups: number | null
  deleted_groups: number | null
  error_message: string | null
}
type Remote = ReturnType<typeof newRemote>
type Directory = { id: string; base_url: null; token: null; pull: { url: string; label: string } }

export async function connect({ manage }: Workspace, { url }: Remote, name = "Remote"): Promise<Directory> {
  const made = manage.post("/scim/directories", { name, pull: { url, token: TOKEN } })
  return (await expectJson<{ data: Directory }>(201, made)).data
}

export async function stage(remote: Remote) {
  const workspace = await newWorkspace()
  return { workspace, remote, directory: await connect(workspace, remote) }
}

export const start = (workspace: Workspace) => queueSyncJob(workspace, "pull")

export const read = async ({ manage }: Workspace, id: string) =>
  (await expectJson<{ data: Job }>(200, manage.get(`/scim/sync-jobs/${id}`))).data

/** Ends the wait or the lease of a job. */
export const free = (id: string) =>
  env.DB.prepare("UPDATE scim_sync_jobs SET leased_until = 0 WHERE id = ?").bind(id).run()

/** Continues a stopped job, as the scheduler does after a wait. */
export async function continueJob(workspace: Workspace, id: string, steps?: number): Promise<Job> {
  await free(id)
  await runSyncJob(env, workspace.organizationId, id, steps)
  return read(workspace, id)
}

export async function sync(workspace: Workspace): Promise<Job> {
  const id = await start(workspace)
  let job = await continueJob(workspace, id)
  for (let turn = 0; turn < 12 && job.status === "running"; turn++) job = await continueJob(workspace, id)
  return job
}

/** Stored users with their active state, and groups with their members' names. */
export async function storedDirectory({ organizationId }: Workspace) {
  const [users, groups] = await env.DB.batch<{ name: string; about: string | number }>([
    env.DB.prepare(
      "SELECT user_name AS name, active AS about FROM scim_users WHERE organization_id = ? ORDER BY user_name",
    ).bind(organizationId),
    env.DB.prepare(
      `SELECT display_name AS name, (SELECT group_concat(user_name) FROM (SELECT u.user_name FROM scim_group_members m
         JOIN scim_users u ON u.organization_id = m.organization_id AND u.id = m.user_id WHERE m.group_id = g.id
         ORDER BY u.user_name)) AS about
       FROM scim_groups g WHERE organization_id = ? AND deleted_at IS NULL ORDER BY display_name`,
    ).bind(organizationId),
  ])
  const plain = (text: string) => text.replaceAll("@example.com", "")
  const asEntries = (result?: D1Result<{ name: string; about: string | number }>) =>
    Object.fromEntries((result?.results ?? []).map(({ name, about }) => [plain(name), about]))
  const crews = Object.entries(asEntries(groups)).map(([name, about]) => [name, plain(String(about ?? ""))])
  return { users: asEntries(users), groups: Object.fromEntries(crews) as Record<string, string> }
}

export const memberEmails = async ({ manage }: Workspace) => {
  type Members = { data: { id: string; email: string | null }[] }
  const { data } = await expectJson<Members>(200, manage.get("/organization/members?limit=100"))
  return data
    .flatMap(({ email }) => (email?.endsWith("@example.com") ? [email.replace("@example.com", "")] : []))
    .toSorted()
}

export const people = (...names: string[]) => names.map((name) => person(name))
