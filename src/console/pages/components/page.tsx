import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import { ApiError } from "../../api/client.ts"
import type { Limit } from "../../api/types.ts"
import { usd } from "../../format/number.ts"
import { Page } from "../../shell/page.tsx"
import { toast } from "../../state/toasts.ts"
import { Button, Segmented } from "../../ui/button.tsx"
import { Chart } from "../../ui/chart.tsx"
import { Chip, type ChipKind } from "../../ui/chip.tsx"
import { Code } from "../../ui/code.tsx"
import { ConfirmDialog } from "../../ui/dialog.tsx"
import { Check, Search, Select, TextArea, TextField } from "../../ui/field.tsx"
import { Markdown } from "../../ui/markdown.tsx"
import { Menu } from "../../ui/menu.tsx"
import { Ladder, Meter } from "../../ui/meter.tsx"
import { RangePicker } from "../../ui/range.tsx"
import { Empty, ErrorPanel, Skeleton } from "../../ui/states.tsx"
import { Status } from "../../ui/status.tsx"
import { type Column, Table } from "../../ui/table.tsx"
import { currentTab, Tabs } from "../../ui/tabs.tsx"
import { Count, Duration, Money, Time } from "../../ui/values.tsx"

const TABS = [
  { id: "controls", label: "Controls" },
  { id: "data", label: "Data" },
  { id: "states", label: "States" },
  { id: "text", label: "Text" },
]

/** Every component in every state: the design system, documented by itself. */
export default function ComponentsPage() {
  const tab = currentTab(TABS)
  return (
    <Page title="Components" controls={<RangePicker />}>
      <div class="read stack wide">
        <Tabs label="Components" tabs={TABS} />
        {tab === "controls" && <Controls />}
        {tab === "data" && <Data />}
        {tab === "states" && <States />}
        {tab === "text" && <Text />}
      </div>
    </Page>
  )
}

function Example({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="stack tight">
      <h2>{title}</h2>
      {children}
    </section>
  )
}

function Controls() {
  const [view, setView] = useState<"one" | "two">("one")
  const [text, setText] = useState("")
  const [isOn, setOn] = useState(true)
  const [isAsking, setAsking] = useState(false)
  return (
    <>
      <Example title="Buttons">
        <div class="row">
          <Button kind="primary">Primary</Button>
          <Button>Plain</Button>
          <Button kind="quiet">Quiet</Button>
          <Button kind="danger">Danger</Button>
          <Button disabled>Disabled</Button>
          <Button busy>Busy</Button>
          <Button aria-pressed>Pressed</Button>
          <Button icon="plus" size="small">
            Small
          </Button>
          <Button icon="copy" label="Copy" />
        </div>
      </Example>
      <Example title="Choice and menu">
        <div class="row">
          <Segmented
            label="View"
            value={view}
            onChange={setView}
            options={[
              { value: "one", label: "One" },
              { value: "two", label: "Two" },
            ]}
          />
          <Menu label="Actions" text="Menu">
            <button type="button">First action</button>
            <button type="button">Second action</button>
          </Menu>
          <Button onClick={() => setAsking(true)}>Dialog</Button>
          <Button onClick={() => toast("good", "The key “ci” is saved.", { label: "Undo", run: () => {} })}>
            Toast
          </Button>
          <Button onClick={() => toast("bad", "limit: must be from 0 to 1000000.")}>Toast of an error</Button>
        </div>
      </Example>
      <Example title="Fields">
        <div class="split">
          <TextField
            label="Text"
            hint="A hint says what is expected"
            placeholder="Placeholder"
            value={text}
            onChange={setText}
          />
          <TextField label="With a fault" fault="must be from 0 to 2" value="7" onChange={() => {}} />
          <Select label="Select" value="a" onChange={() => {}} options={[{ value: "a", label: "First" }]} />
          <Search label="Filter" value="" onChange={() => {}} />
          <TextArea label="Code" code value={'{ "a": 1 }'} onChange={() => {}} />
          <Check label="Check" checked={isOn} onChange={setOn} />
        </div>
      </Example>
      {isAsking && (
        <ConfirmDialog
          title="Delete “ci”?"
          action="Delete the key"
          name="ci"
          onConfirm={() => {}}
          onClose={() => setAsking(false)}
        >
          <p>Calls with this key are refused from now on. This cannot be undone.</p>
        </ConfirmDialog>
      )}
    </>
  )
}

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
    binds: true,
  },
]

type Line = { name: string; amount: number }
const COLUMNS: readonly Column<Line>[] = [
  { id: "name", label: "Name", width: "minmax(0, 1fr)", narrow: "title", cell: ({ name }) => name },
  {
    id: "amount",
    label: "Amount",
    width: "100px",
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

function Data() {
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
          <Status tone="good">works</Status>
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

function States() {
  const error = new ApiError("limit: must be from 0 to 1000000 USD.", {
    status: 400,
    requestId: "req-14b96c15-291c-4d7c-b3dd-9d896ad0f740",
  })
  return (
    <>
      <Example title="Loading">
        <Skeleton lines={3} />
      </Example>
      <Example title="Empty">
        <Empty title="No calls in this range">
          <p>Try one in the playground.</p>
        </Empty>
      </Example>
      <Example title="Error">
        <ErrorPanel error={error} retry={() => {}} />
      </Example>
    </>
  )
}

const MARKDOWN = `## Heading\n\nA paragraph with **bold**, *italic*, \`code\` and a [link](https://example.com/path).\n\n- first\n- second\n\n1. one\n2. two\n\n> A quotation\n\n| Name | Value |\n|---|---|\n| a | 1 |\n\n\`\`\`ts\nconst answer = 42\n\`\`\`\n\n<b onclick="alert(1)">tags are text</b>`

function Text() {
  return (
    <>
      <Example title="Markdown of a model">
        <Markdown text={MARKDOWN} />
      </Example>
      <Example title="Code">
        <Code text={"curl -N https://gateway.example.com/api/v1/models"} />
      </Example>
      <Example title="Keys">
        <p>
          <kbd>Ctrl</kbd> <kbd>K</kbd>
        </p>
      </Example>
    </>
  )
}
