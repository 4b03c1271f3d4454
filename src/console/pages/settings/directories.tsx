import { useEffect, useState } from "preact/hooks"
import type * as z from "zod"
import type { ScimGroup, ScimGroupMapping, ScimSyncJob } from "../../../scim/mapping/mapping-schemas.ts"
import { api } from "../../api/client.ts"
import { useAll } from "../../api/pages.ts"
import { invalidate } from "../../api/query.ts"
import type { CreatedDirectory, Directory } from "../../api/account-types.ts"
import type { Workspace } from "../../api/types.ts"
import { attempt } from "../../state/toasts.ts"
import { Button } from "../../ui/button.tsx"
import { Code } from "../../ui/text/code.tsx"
import { ConfirmDialog } from "../../ui/dialog.tsx"
import { Select } from "../../ui/field.tsx"
import { Empty, Loaded } from "../../ui/states.tsx"
import { Status, type Tone } from "../../ui/status.tsx"
import { Time } from "../../ui/values.tsx"
import { ChangeToken } from "./directory-token.tsx"
import { NewDirectory } from "./new-directory.tsx"

type Group = z.infer<typeof ScimGroup>
type Mapping = z.infer<typeof ScimGroupMapping>
type Job = z.infer<typeof ScimSyncJob>

/** Directories, the mappings of their groups, and the sync in progress. */
export function Directories() {
  const list = useAll<Directory>("/scim/directories")
  const [created, setMade] = useState<CreatedDirectory>()
  const [isNew, setNew] = useState(true)
  const [isMaking, setMaking] = useState(false)
  const [deleted, setDeleted] = useState<Directory>()
  const [changed, setChanged] = useState<Directory>()
  const show = (isOfNew: boolean) => (directory: CreatedDirectory) => {
    setNew(isOfNew)
    setMade(directory)
  }
  const remove = async ({ id, name }: Directory) => {
    await attempt(() => api(`/scim/directories/${id}`, { method: "DELETE" }), `${name} is removed`)
    invalidate("/scim")
  }
  return (
    <div class="stack wide">
      <div class="row between">
        <h2>Directories</h2>
        <Button kind="primary" icon="plus" onClick={() => setMaking(true)}>
          Connect a directory
        </Button>
      </div>
      {created && (
        <div class="notice good stack tight">
          <strong>
            {created.name} {isNew ? "is connected." : "has a new token."}
          </strong>
          {created.token !== null && (
            <>
              <span>
                Enter these in the directory. The token is shown only now.
                {created.previous_token_expires_at !== null && (
                  <>
                    {" "}
                    The former token expires <Time at={created.previous_token_expires_at} />.
                  </>
                )}
              </span>
              <Code label="SCIM base URL" text={created.base_url ?? ""} />
              <Code label="Bearer token" text={created.token} />
            </>
          )}
        </div>
      )}
      <Loaded query={list} lines={3}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No directory is connected">
              <p>Connect Okta, Entra or another SCIM 2.0 directory: people and groups follow it from then on.</p>
            </Empty>
          ) : (
            <>
              {data.map((directory) => (
                <section key={directory.id} class="settings-card row between" aria-label={directory.name}>
                  <span>
                    <strong>{directory.name}</strong>{" "}
                    <span class="quiet">
                      {directory.pull ? `read from ${directory.pull.url}` : `pushes to ${directory.base_url ?? ""}`}
                      {directory.previous_token_expires_at !== null && (
                        <>
                          ; the former token expires <Time at={directory.previous_token_expires_at} />
                        </>
                      )}
                    </span>
                  </span>
                  <span class="row">
                    <Button size="small" onClick={() => setChanged(directory)}>
                      {directory.pull ? "Change token" : "Replace token"}
                    </Button>
                    <Button size="small" kind="danger" onClick={() => setDeleted(directory)}>
                      Remove
                    </Button>
                  </span>
                </section>
              ))}
              <Sync />
              <Mappings />
            </>
          )
        }
      </Loaded>
      {isMaking && <NewDirectory onMade={show(true)} onClose={() => setMaking(false)} />}
      {changed && <ChangeToken directory={changed} onReplaced={show(false)} onClose={() => setChanged(undefined)} />}
      {deleted && (
        <ConfirmDialog
          title={`Remove ${deleted.name}?`}
          action="Remove"
          name={deleted.name}
          onConfirm={() => remove(deleted)}
          onClose={() => setDeleted(undefined)}
        >
          <p>Its token stops working, and its people and groups are no longer managed by it.</p>
        </ConfirmDialog>
      )}
    </div>
  )
}

const TONES: Record<Job["status"], Tone> = { queued: "busy", running: "busy", succeeded: "good", failed: "bad" }
const POLL_MS = 1_000

/** Starts a sync job and polls it until it ends. */
function Sync() {
  const [job, setJob] = useState<Job>()
  const isRunning = job?.status === "queued" || job?.status === "running"
  useEffect(() => {
    if (!job || !isRunning) return undefined
    const timer = setTimeout(() => {
      api<{ data: Job }>(`/scim/sync-jobs/${job.id}`).then(
        ({ data }) => {
          setJob(data)
          if (data.status === "succeeded") invalidate("/scim", "/organization/members")
        },
        // The next poll reads it again.
        () => setJob({ ...job }),
      )
    }, POLL_MS)
    return () => clearTimeout(timer)
  }, [job, isRunning])
  const start = () =>
    attempt(async () => {
      const { data } = await api<{ data: Job }>("/scim/sync-jobs", { method: "POST" })
      setJob(data)
    }, "The sync has started")
  return (
    <section class="settings-card stack tight" aria-label="Sync">
      <div class="row between">
        <h2>Sync</h2>
        <Button busy={isRunning} onClick={() => start()}>
          Sync now
        </Button>
      </div>
      <p class="quiet">Brings members and workspaces in line with the directories.</p>
      {job && (
        <div class="row between" role="status" aria-live="polite">
          <Status tone={TONES[job.status]}>{job.status}</Status>
          <span>
            {job.synced_groups ?? 0} groups synced, {job.deleted_groups ?? 0} removed
          </span>
          <span class="quiet">
            started <Time at={job.started_at ?? job.created_at} />
          </span>
        </div>
      )}
      {job?.error_message && <div class="notice bad">{job.error_message}</div>}
    </section>
  )
}

const ROLES = [
  { value: "member", label: "Member" },
  { value: "admin", label: "Admin" },
]

function Mappings() {
  const groups = useAll<Group>("/scim/groups")
  const mappings = useAll<Mapping>("/scim/group-mappings")
  const workspaces = useAll<Workspace>("/workspaces")
  const groupName = (id: string) => groups.data?.data.find((group) => group.id === id)?.display_name ?? id
  const workspaceName = (id: string) => workspaces.data?.data.find((one) => one.id === id)?.name ?? id
  const remove = async ({ id }: Mapping) => {
    const path = `/scim/group-mappings/${id}?keep_members=true`
    await attempt(() => api(path, { method: "DELETE" }), "The mapping is removed; its members stay")
    invalidate("/scim")
  }
  return (
    <section class="settings-card stack" aria-label="Group mappings">
      <h2>Groups and workspaces</h2>
      <Loaded query={mappings} lines={2}>
        {({ data }) => (
          <ul class="stack tight">
            {data.length === 0 && (
              <li class="quiet">No group is mapped: a sync adds members to the organization only.</li>
            )}
            {data.map((mapping) => (
              <li key={mapping.id} class="row between">
                <span>
                  <strong>{groupName(mapping.scim_group_id)}</strong> → {workspaceName(mapping.workspace_id)}{" "}
                  <span class="quiet">as {mapping.role}</span>
                </span>
                <Button
                  size="small"
                  kind="quiet"
                  icon="trash"
                  label={`Remove the mapping of ${groupName(mapping.scim_group_id)}`}
                  onClick={() => remove(mapping)}
                />
              </li>
            ))}
          </ul>
        )}
      </Loaded>
      <NewMapping groups={groups.data?.data ?? []} workspaces={workspaces.data?.data ?? []} />
    </section>
  )
}

function NewMapping({ groups, workspaces }: { groups: readonly Group[]; workspaces: readonly Workspace[] }) {
  const [group, setGroup] = useState("")
  const [workspace, setWorkspace] = useState("")
  const [role, setRole] = useState("member")
  const add = async () => {
    const body = { scim_group_id: group, workspace_id: workspace, role }
    if (await attempt(() => api("/scim/group-mappings", { method: "POST", body }), "The group is mapped")) setGroup("")
    invalidate("/scim")
  }
  const choose = { value: "", label: "Choose" }
  return (
    <div class="row fields">
      <Select
        label="Group"
        value={group}
        onChange={setGroup}
        options={[choose, ...groups.map(({ id, display_name: name }) => ({ value: id, label: name }))]}
      />
      <Select
        label="Workspace"
        value={workspace}
        onChange={setWorkspace}
        options={[choose, ...workspaces.map(({ id, name }) => ({ value: id, label: name }))]}
      />
      <Select label="Role" value={role} onChange={setRole} options={ROLES} />
      <Button disabled={group === "" || workspace === ""} onClick={() => add()}>
        Map
      </Button>
    </div>
  )
}
