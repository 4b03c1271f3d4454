import { withParams } from "../../api/client.ts"
import { useGet } from "../../api/query.ts"
import type { Call, CallPage } from "../../api/types.ts"
import { Chip, hrefOf } from "../../ui/chip.tsx"
import { Empty, Loaded } from "../../ui/states.tsx"
import { Status } from "../../ui/status.tsx"
import { type Column, Table } from "../../ui/table.tsx"
import { Duration, Money, Time } from "../../ui/values.tsx"
import { describeOutcome, toneOf } from "../calls/columns.tsx"

const callColumns: readonly Column<Call>[] = [
  {
    id: "time",
    label: "Time",
    width: "90px",
    narrow: "lead",
    cell: ({ id, ended_at }) => (
      <a class="row-link" href={hrefOf("call", id)}>
        <Time at={ended_at} />
      </a>
    ),
  },
  {
    id: "status",
    label: "Status",
    width: "110px",
    cell: (call) => <Status tone={toneOf(call)}>{describeOutcome(call)}</Status>,
  },
  {
    id: "model",
    label: "Model",
    width: "minmax(140px, 2fr)",
    narrow: "title",
    cell: ({ model }) => <Chip kind="model" id={model} />,
  },
  {
    id: "duration",
    label: "Duration",
    width: "80px",
    align: "right",
    narrow: "hide",
    cell: ({ duration_ms }) => <Duration ms={duration_ms} />,
  },
  { id: "cost", label: "Cost", width: "var(--money)", align: "right", cell: ({ cost }) => <Money value={cost} /> },
]

/** The latest calls of a key. */
export function LatestCalls({ hash }: { hash: string }) {
  const calls = useGet<CallPage>(withParams("/calls", { key: hash, limit: 10 }))
  return (
    <section class="stack tight">
      <div class="row between">
        <h2>Latest calls</h2>
        <a href={`/calls?key=${hash}&range=30d`}>All calls of this key</a>
      </div>
      <Loaded query={calls} lines={4}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No calls yet" />
          ) : (
            <Table
              label="Latest calls"
              bounded
              columns={callColumns}
              rows={data}
              rowKey={({ id }) => id}
              href={({ id }) => hrefOf("call", id)}
            />
          )
        }
      </Loaded>
    </section>
  )
}
