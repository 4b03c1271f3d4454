import type { Limit } from "../../api/types.ts"
import { usd } from "../../format/number.ts"
import { Chart } from "../../ui/charts/chart.tsx"
import { Chip, type ChipKind } from "../../ui/chip.tsx"
import { Ladder, Meter } from "../../ui/charts/meter.tsx"
import { Status } from "../../ui/status.tsx"
import { type Column, Table } from "../../ui/table.tsx"
import { Count, Duration, Money, Time } from "../../ui/values.tsx"
import { Example } from "./example.tsx"

const KINDS: readonly ChipKind[] = [
  "model",
  "provider",
  "key",
  "workspace",
  "member",
  "call",
  "guardrail",
  "intern",
  "app",
  "preset",
]

const HOUR = 3_600_000
const START = Date.UTC(2026, 0, 5)
const TIMES = Array.from({ length: 24 }, (_, index) => START + index * HOUR)
const SERIES = ["openai/gpt-5.5", "anthropic/claude-opus", "other"].map((label, series) => ({
  label,
  values: TIMES.map((_, index) => Math.round(10 + 8 * Math.sin((index + series * 3) / 4)) / 100),
}))

const LIMITS: readonly Limit[] = [
  {
    kind: "balance",
    id: "a",
    name: "Acme",
    limit: 1500,
    spent: 687.6,
    held: 0,
    left: 812.4,
    interval: null,
    resets_at: null,
    includes_byok: false,
    subject: null,
    binds: false,
  },
  {
    kind: "budget",
    id: "b",
    name: "workspace",
    limit: 80,
    spent: 18.8,
    held: 2,
    left: 59.2,
    interval: "monthly",
    resets_at: "2027-01-01T00:00:00.000Z",
    includes_byok: false,
    subject: null,
    binds: false,
  },
  {
    kind: "key",
    id: "c",
    name: "ci",
    limit: 10,
    spent: 8.06,
    held: 0.4,
    left: 1.54,
    interval: "daily",
    resets_at: "2027-01-01T00:00:00.000Z",
    includes_byok: false,
    subject: null,
    binds: true,
  },
]

type Line = { name: string; amount: number }
const COLUMNS: readonly Column<Line>[] = [
  { id: "name", label: "Name", width: "minmax(0, 1fr)", narrow: "title", cell: ({ name }) => name },
  {
    id: "amount",
    label: "Amount",
    width: "var(--money)",
    align: "right",
    narrow: "lead",
    cell: ({ amount }) => <Money value={amount} />,
  },
]
const LINES: readonly Line[] = [
  { name: "Short", amount: 0.00000042 },
  {
    name: "A name that is much longer than the column and therefore ends in an ellipsis where the screen is narrow",
    amount: 12.5,
  },
  { name: "שם ארוך בעברית", amount: 1234.5 },
]

export function Data() {
  return (
    <>
      <Example title="Chips: one look for each kind of object">
        <div class="row">
          {KINDS.map((kind) => (
            <Chip key={kind} kind={kind} id={kind} />
          ))}
        </div>
      </Example>
      <Example title="Status: shape and color">
        <div class="row">
          <Status tone="good">active</Status>
          <Status tone="warn">83 % spent</Status>
          <Status tone="bad">failed</Status>
          <Status tone="busy">running</Status>
          <Status tone="off">disabled</Status>
        </div>
      </Example>
      <Example title="Values">
        <dl class="facts">
          <dt>Money</dt>
          <dd>
            <Money value={1234.5} /> · <Money value={0.0000042} /> · <Money value={0} /> · <Money value={null} />
          </dd>
          <dt>Count</dt>
          <dd>
            <Count value={12_345} /> · <Count value={12_345_678} />
          </dd>
          <dt>Time</dt>
          <dd>
            <Time at={Date.now() - 90_000} /> · <Time at={START} /> · <Time at={null} />
          </dd>
          <dt>Duration</dt>
          <dd>
            <Duration ms={42} /> · <Duration ms={1_240} /> · <Duration ms={125_000} />
          </dd>
        </dl>
      </Example>
      <Example title="Meter and ladder">
        <Meter value={3} held={2} max={10} label="3 of 10, 2 held" />
        <Ladder limits={LIMITS} />
      </Example>
      <Example title="Chart">
        <Chart label="Spend by model" times={TIMES} series={SERIES} kind="bars" format={usd} stepMs={HOUR} />
        <Chart
          label="Latency by model"
          times={TIMES}
          series={SERIES}
          kind="line"
          format={usd}
          stepMs={HOUR}
          height={140}
        />
      </Example>
      <Example title="Table">
        <Table label="Example" bounded columns={COLUMNS} rows={LINES} rowKey={({ name }) => name} />
      </Example>
    </>
  )
}
