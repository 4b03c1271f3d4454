import { useState } from "preact/hooks"
import { ApiError } from "../../api/client.ts"
import { Page } from "../../shell/page.tsx"
import { toast } from "../../state/toasts.ts"
import { Button, Segmented } from "../../ui/button.tsx"
import { Code } from "../../ui/text/code.tsx"
import { ConfirmDialog } from "../../ui/dialog.tsx"
import { Check, Search, Select, TextArea, TextField } from "../../ui/field.tsx"
import { Markdown } from "../../ui/text/markdown.tsx"
import { Menu } from "../../ui/menu.tsx"
import { RangePicker } from "../../ui/charts/range.tsx"
import { Empty, ErrorPanel, Skeleton } from "../../ui/states.tsx"
import { currentTab, Tabs } from "../../ui/tabs.tsx"

import { Data } from "./data.tsx"
import { Parts } from "./parts.tsx"
import { Example } from "./example.tsx"

const TABS = [
  { id: "controls", label: "Controls" },
  { id: "data", label: "Data" },
  { id: "parts", label: "Calls and limits" },
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
        {tab === "parts" && <Parts />}
        {tab === "states" && <States />}
        {tab === "text" && <Text />}
      </div>
    </Page>
  )
}

function Controls() {
  const [view, setView] = useState<"one" | "two">("one")
  const [text, setText] = useState("")
  const [isOn, setOn] = useState(true)
  const [isDialogOpen, setDialogOpen] = useState(false)
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
          <Button onClick={() => setDialogOpen(true)}>Dialog</Button>
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
      {isDialogOpen && (
        <ConfirmDialog
          title="Delete “ci”?"
          action="Delete the key"
          name="ci"
          onConfirm={() => {}}
          onClose={() => setDialogOpen(false)}
        >
          <p>Calls with this key are refused from now on. This cannot be undone.</p>
        </ConfirmDialog>
      )}
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
