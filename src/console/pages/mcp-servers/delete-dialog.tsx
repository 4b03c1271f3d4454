import { useState } from "preact/hooks"
import { api, ApiError } from "../../api/client.ts"
import { invalidate, useGet } from "../../api/query.ts"
import type { ApiKey, List, McpServer } from "../../api/types.ts"
import { count } from "../../format/number.ts"
import { navigate } from "../../state/router.ts"
import { attempt, toast } from "../../state/toasts.ts"
import { ConfirmDialog } from "../../ui/dialog.tsx"
import { Check } from "../../ui/field.tsx"
import { Loaded } from "../../ui/states.tsx"
import { setTools } from "./key-tools.tsx"
import { serverPath } from "./server-form.tsx"
import { keysPath } from "./server-keys.tsx"

const NAMED = 5
const PAGE = 100

/** Shows the effect of the deletion. Keys keep their permissions unless they are removed here. */
export function DeleteDialog({ server, onClose }: { server: McpServer; onClose: () => void }) {
  const { slug } = server
  const keys = useGet<List<ApiKey>>(keysPath(server, { limit: PAGE, offset: 0 }))
  const [isClearing, setClearing] = useState(true)
  const remove = async () => {
    const done = await attempt(() => api(serverPath(server), { method: "DELETE" }), `${slug} is deleted.`)
    if (!done) return
    navigate("/mcp-servers")
    if (isClearing) await clearKeys(server)
    invalidate("/mcp-servers?", "/keys")
  }
  return (
    <ConfirmDialog
      title={`Delete ${slug}?`}
      action="Delete the server"
      name={slug}
      onConfirm={remove}
      onClose={onClose}
    >
      <p>
        Clients get 404 from now on, and their sessions end. Its headers are deleted. Earlier calls stay in the list.
        This cannot be undone.
      </p>
      <Loaded query={keys} lines={1}>
        {({ data, total_count: total = data.length }) =>
          total === 0 ? (
            <p>No key has permission for its tools.</p>
          ) : (
            <>
              <p>
                <strong>
                  {count(total)} {total === 1 ? "key names" : "keys name"} its tools
                </strong>
                : {namesIn(data, total)}.
              </p>
              <Check
                label={`Take ${slug}/… away from ${total === 1 ? "this key" : "these keys"}, too`}
                checked={isClearing}
                onChange={setClearing}
              />
              {!isClearing && (
                <p class="small quiet">They keep the permission, which applies again to a new server with this slug.</p>
              )}
            </>
          )
        }
      </Loaded>
    </ConfirmDialog>
  )
}

function namesIn(keys: readonly ApiKey[], total: number): string {
  const names = keys.slice(0, NAMED).map(({ name }) => name)
  return total > names.length ? `${names.join(", ")} and ${count(total - names.length)} more` : names.join(", ")
}

/** A key that was changed is no longer in the list, so the first page is read until it is empty. */
async function clearKeys(server: McpServer): Promise<void> {
  let cleared = 0
  try {
    for (;;) {
      const { data } = await api<List<ApiKey>>(keysPath(server, { limit: PAGE, offset: 0 }))
      if (data.length === 0) break
      for (const key of data) await setTools(key, server.slug, [])
      cleared += data.length
    }
    if (cleared > 0) toast("good", `${count(cleared)} ${cleared === 1 ? "key has" : "keys have"} lost its tools.`)
  } catch (thrown) {
    toast("bad", `${count(cleared)} keys have lost its tools, the others not: ${ApiError.fromThrown(thrown).message}`)
  }
}
