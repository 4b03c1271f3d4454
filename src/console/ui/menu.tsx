import { autoUpdate, computePosition, flip, offset, type Placement, shift } from "@floating-ui/dom"
import type { ComponentChildren, RefObject } from "preact"
import { useLayoutEffect, useRef, useState } from "preact/hooks"
import { Button } from "./button.tsx"
import type { IconName } from "./icon.tsx"

type PopoverProps = {
  anchor: RefObject<HTMLElement | null>
  onClose: () => void
  label: string
  placement?: Placement
  children: ComponentChildren
}

/** The focus returns to the button that opened it. */
function focusOn(anchor: RefObject<HTMLElement | null>): void {
  anchor.current?.querySelector("button")?.focus()
}

/** Positioned at its anchor, inside the viewport; Escape and a click outside close it. */
export function Popover({ anchor, onClose, label, placement = "bottom-start", children }: PopoverProps) {
  const element = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const reference = anchor.current
    const floating = element.current
    if (!reference || !floating) return undefined
    return autoUpdate(reference, floating, () => {
      const middleware = [offset(4), flip(), shift({ padding: 8 })]
      void computePosition(reference, floating, { placement, strategy: "fixed", middleware }).then(({ x, y }) => {
        floating.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`
      })
    })
  }, [anchor, placement])
  useLayoutEffect(() => {
    const onPointer = ({ target }: Event) => {
      if (!(target instanceof Node)) return
      if (!element.current?.contains(target) && !anchor.current?.contains(target)) onClose()
    }
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return
      // Not the dialog around it, too.
      event.preventDefault()
      event.stopPropagation()
      onClose()
      focusOn(anchor)
    }
    document.addEventListener("pointerdown", onPointer)
    document.addEventListener("keydown", onKey, true)
    return () => {
      document.removeEventListener("pointerdown", onPointer)
      document.removeEventListener("keydown", onKey, true)
    }
  }, [anchor, onClose])
  return (
    <div ref={element} class="popover" role="dialog" aria-label={label}>
      {children}
    </div>
  )
}

/** A button that opens a list of actions. Arrow keys move the focus, Enter runs the action. */
export function Menu(props: {
  label: string
  icon?: IconName
  size?: "normal" | "small"
  kind?: "plain" | "quiet"
  text?: ComponentChildren
  placement?: Placement
  children: ComponentChildren
}) {
  const [isOpen, setOpen] = useState(false)
  const anchor = useRef<HTMLSpanElement>(null)
  const close = () => {
    focusOn(anchor)
    setOpen(false)
  }
  const onArrow = (event: KeyboardEvent) => {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return
    event.preventDefault()
    const list = event.currentTarget instanceof Element ? event.currentTarget : undefined
    const items = [...(list?.querySelectorAll<HTMLElement>("a, button") ?? [])]
    const index = items.findIndex((item) => item === document.activeElement)
    items.at((index + (event.key === "ArrowDown" ? 1 : -1) + items.length) % items.length)?.focus()
  }
  return (
    <>
      <span ref={anchor}>
        <Button
          kind={props.kind ?? "plain"}
          size={props.size ?? "normal"}
          {...(props.icon && { icon: props.icon })}
          {...(props.text === undefined && { label: props.label })}
          aria-haspopup="dialog"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {props.text}
        </Button>
      </span>
      {isOpen && (
        <Popover
          anchor={anchor}
          onClose={() => setOpen(false)}
          label={props.label}
          placement={props.placement ?? "bottom-end"}
        >
          <div class="menu-list" onKeyDown={onArrow} onClick={close}>
            {props.children}
          </div>
        </Popover>
      )}
    </>
  )
}
