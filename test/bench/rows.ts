import type { Child } from "./child.ts"
import { PORTKEY_VERSION } from "./prepare.ts"
import type { Target } from "./target.ts"
import type { Workload } from "./workloads.ts"

/** One row of the comparison: a target, the headers of its calls, and the workloads that it supports. */
export type Row = {
  name: string
  target: Child<Target, never, never>
  /** Instead of the target's headers; of several, each call uses the next. */
  keys?: readonly Record<string, string>[]
  takes: (workload: Workload) => boolean
  /** Fields that make a stream end with its usage. */
  streamFields?: Record<string, unknown>
}

type Start = (kind: string) => Promise<Row["target"]>

/** `isCheck`: only the rows that have bounds. */
export async function startRows(
  start: Start,
  peers: { portkey: boolean; litellm: boolean },
  isCheck: boolean,
): Promise<Row[]> {
  const everything = () => true
  const isChat = ({ path }: Workload) => path === "chat/completions"
  const [bare, gateway] = [await start("bare"), await start("gateway")]
  const rows: Row[] = [
    { name: "bare", target: bare, takes: everything },
    { name: "gateway", target: gateway, takes: everything },
  ]
  if (isCheck) return rows
  // In a separate process: code and memory of these rows would count for plain calls.
  const other = await start("gateway")
  const { guarded = {}, keys = [] } = other
  rows.splice(1, 0, { name: "script", target: await start("script"), takes: everything })
  rows.push({ name: "gateway, 5 detectors", target: other, keys: [guarded], takes: isUnpaced })
  rows.push({ name: "gateway, 400 keys", target: other, keys, takes: ({ title }) => title === "1 KB JSON" })
  if (peers.portkey) rows.push({ name: `Portkey ${PORTKEY_VERSION}`, target: await start("portkey"), takes: isChat })
  if (peers.litellm) {
    const streamFields = { stream_options: { include_usage: true } }
    // It delays a third of 1,000 streams until they end.
    const takes = (workload: Workload) => isChat(workload) && workload.concurrency < 1_000
    rows.push({ name: "LiteLLM", target: await start("litellm"), takes, streamFields })
  }
  return rows
}

function isUnpaced({ path, perSecond }: Workload): boolean {
  return path === "chat/completions" && perSecond === 0
}
