import type { ButtonHTMLAttributes, ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import { Icon, type IconName } from "./icon.tsx"

type Props = {
  kind?: "plain" | "primary" | "quiet" | "danger" | "primary danger"
  size?: "normal" | "small"
  icon?: IconName
  /** If the button has no text, the label is its accessible name and tooltip. */
  label?: string
  busy?: boolean
  /** While a returned promise is pending, further clicks do nothing: the change is not made twice. */
  onClick?: (event: MouseEvent) => unknown
  href?: string
  children?: ComponentChildren
} & Pick<
  ButtonHTMLAttributes<HTMLButtonElement>,
  "type" | "disabled" | "title" | "aria-pressed" | "aria-expanded" | "aria-haspopup" | "form" | "autoFocus"
>

export function Button(props: Props) {
  const { kind = "plain", size = "normal", icon, label, href, children, onClick, busy = false, ...rest } = props
  const [isPending, setPending] = useState(false)
  const click = (event: MouseEvent) => {
    if (isPending) return
    const result = onClick?.(event)
    if (!(result instanceof Promise)) return
    setPending(true)
    void result.finally(() => setPending(false))
  }
  const isIconOnly = children === undefined || children === null
  const classes = `button ${kind === "plain" ? "" : kind} ${size === "small" ? "small" : ""} ${isIconOnly ? "icon-only" : ""}`
  const content = (
    <>
      {icon && <Icon name={icon} size={size === "small" ? 14 : 16} />}
      {children}
    </>
  )
  const labelProps = label === undefined ? {} : { "aria-label": label, title: rest.title ?? label }
  if (href !== undefined)
    return (
      <a class={classes} href={href} {...labelProps}>
        {content}
      </a>
    )
  return (
    <button
      type="button"
      {...rest}
      class={classes}
      {...labelProps}
      {...(onClick && { onClick: click })}
      // Not disabled: the focus stays.
      aria-busy={busy || isPending}
      disabled={busy || rest.disabled}
    >
      {content}
    </button>
  )
}

export function Segmented<T extends string>(props: {
  label: string
  options: readonly { value: T; label: string }[]
  value: T
  onChange: (value: T) => void
}) {
  return (
    <div class="segmented" role="group" aria-label={props.label}>
      {props.options.map(({ value, label }) => (
        <button type="button" key={value} aria-pressed={value === props.value} onClick={() => props.onChange(value)}>
          {label}
        </button>
      ))}
    </div>
  )
}
