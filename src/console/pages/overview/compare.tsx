import { useRef, useState } from "preact/hooks"
import { query, setQuery } from "../../state/router.ts"
import { absolute, dayMonthYear } from "../../format/time.ts"
import { Button } from "../../ui/button.tsx"
import { Icon } from "../../ui/icon.tsx"
import { Popover } from "../../ui/menu.tsx"
import { CustomRange, type Range } from "../../ui/charts/range.tsx"
import { comparedRange, earlierOf } from "./periods.ts"

/** The comparison period: the previous one, the same one some weeks earlier, or a custom one. */
export function ComparePicker({ range }: { range: Range }) {
  const [isOpen, setOpen] = useState(false)
  const anchor = useRef<HTMLSpanElement>(null)
  const compared = comparedRange(range, query.value)
  const close = () => setOpen(false)
  const choose = (against: string | null) => {
    setQuery({ against, against_from: null, against_to: null })
    close()
  }
  return (
    <>
      <span ref={anchor}>
        <Button
          kind="quiet"
          aria-haspopup="dialog"
          aria-expanded={isOpen}
          title={`${absolute(compared.from)} to ${absolute(compared.to)}`}
          onClick={() => setOpen(!isOpen)}
        >
          <span class="only-narrow">Against</span>
          <span class="only-wide">Against {compared.name}</span>
          <Icon name="down" size={14} />
        </Button>
      </span>
      {isOpen && (
        <Popover anchor={anchor} label="Compare with" placement="bottom-end" onClose={close}>
          <div class="menu-list">
            {earlierOf(range).map(({ value, name, from, to }) => (
              <button type="button" key={value} onClick={() => choose(value === "before" ? null : value)}>
                <span class="grow">
                  {name.slice(0, 1).toUpperCase()}
                  {name.slice(1)}
                </span>
                <span class="quiet small nowrap">
                  {dayMonthYear(from)} – {dayMonthYear(to)}
                </span>
                {value === compared.value && <Icon name="check" />}
              </button>
            ))}
            <hr />
          </div>
          <CustomRange
            range={compared}
            onApply={({ from, to }) => {
              setQuery({ against: null, against_from: from, against_to: to })
              close()
            }}
          />
        </Popover>
      )}
    </>
  )
}
