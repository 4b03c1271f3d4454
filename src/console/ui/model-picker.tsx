import { matches } from "../format/search.ts"
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks"
import type { Model } from "../api/types.ts"
import { compact, pricePerMillion } from "../format/number.ts"
import { Button } from "./button.tsx"
import { Icon } from "./icon.tsx"
import { Popover } from "./menu.tsx"

const MAX_SHOWN = 60

type Props = {
  models: readonly Model[]
  value: string | null
  label: string
  text?: string
  onChoose: (id: string) => void
}

export function searchModels(models: readonly Model[], text: string): Model[] {
  return models.filter(({ id, name, description, architecture }) =>
    matches(text, `${id} ${name} ${description} ${architecture.modality}`),
  )
}

/** A button that opens a list of models to search by name, author, modality and description. */
export function ModelPicker({ models, value, label, text, onChoose }: Props) {
  const [isOpen, setOpen] = useState(false)
  const anchor = useRef<HTMLSpanElement>(null)
  const choose = (id: string) => {
    setOpen(false)
    onChoose(id)
  }
  return (
    <>
      <span ref={anchor} class="picker">
        <Button
          kind="quiet"
          aria-haspopup="dialog"
          aria-expanded={isOpen}
          title={label}
          disabled={models.length === 0}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name={text === undefined ? "models" : "plus"} size={14} />
          <span class="truncate" dir="auto">
            {text ?? value ?? "Choose a model"}
          </span>
          {text === undefined && <Icon name="down" size={14} />}
        </Button>
      </span>
      {isOpen && (
        <Popover anchor={anchor} label={label} onClose={() => setOpen(false)}>
          <Options models={models} value={value} onChoose={choose} />
        </Popover>
      )}
    </>
  )
}

function Options({ models, value, onChoose }: Pick<Props, "models" | "value" | "onChoose">) {
  const [text, setText] = useState("")
  const [index, setIndex] = useState(0)
  const list = useRef<HTMLDivElement>(null)
  const input = useRef<HTMLInputElement>(null)
  // The autofocus attribute has no effect once the page has focus.
  useLayoutEffect(() => input.current?.focus({ preventScroll: true }), [])
  const found = useMemo(() => searchModels(models, text).slice(0, MAX_SHOWN), [models, text])
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" })
  }, [index])
  const onKey = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0
    if (step === 0 && event.key !== "Enter") return
    event.preventDefault()
    if (step !== 0) setIndex((index + step + found.length) % Math.max(1, found.length))
    const model = found[index]
    if (event.key === "Enter" && model) onChoose(model.id)
  }
  return (
    <div class="model-options">
      <input
        ref={input}
        class="input"
        type="text"
        role="combobox"
        aria-label="Search models"
        aria-expanded="true"
        aria-controls="model-options"
        aria-activedescendant={`model-option-${index}`}
        placeholder="Name, author, modality"
        spellcheck={false}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value)
          setIndex(0)
        }}
        onKeyDown={onKey}
      />
      <div class="menu-list" role="listbox" id="model-options" aria-label="Models" ref={list} tabIndex={-1}>
        {found.map((model, position) => (
          <div
            key={model.id}
            id={`model-option-${position}`}
            role="option"
            aria-selected={position === index}
            onClick={() => onChoose(model.id)}
            onMouseMove={() => setIndex(position)}
          >
            <span class="grow truncate" dir="auto">
              {model.id}
            </span>
            {model.id === value && <Icon name="check" size={14} />}
            <span class="quiet small nowrap">
              {model.context_length ? compact(model.context_length) : "–"} · {pricePerMillion(model.pricing.prompt)} /{" "}
              {pricePerMillion(model.pricing.completion)}
            </span>
          </div>
        ))}
        {found.length === 0 && <p class="quiet">No model matches.</p>}
      </div>
      <p class="small faint">Context · price of a million tokens, in / out</p>
    </div>
  )
}
