const PATHS = {
  overview: "M2.5 13.5h11M4 11V7.5M8 11V3M12 11V5.5",
  playground: "M2.5 3.5h11v7h-6l-3 2.5v-2.5h-2z",
  calls: "M2.5 4h11M2.5 8h11M2.5 12h7",
  interns: "M8 2.5v2M3.5 4.5h9v7h-9zM6 8h.01M10 8h.01M6 13.5h4",
  batches: "M8 2.5l5.500 2.800L8 8 2.500 5.300zM2.500 8L8 10.800 13.500 8M2.500 10.700L8 13.500l5.500-2.800",
  mcp: "M6 2.500v3M10 2.500v3M4 5.500h8v2.500a4 4 0 0 1-8 0zM8 12v2",
  services: "M2.500 8h8M7.500 4.500L11 8l-3.500 3.500M13.500 3v10",
  models: "M8 2l5.5 3v6L8 14l-5.5-3V5zM2.5 5L8 8l5.5-3M8 8v6",
  providers: "M4 13.5a2.5 2.5 0 0 1-.3-5A4.3 4.3 0 0 1 12 7.2a3.2 3.2 0 0 1 .3 6.3z",
  keys: "M9.8 6.2a3 3 0 1 0-2 2L9 9.4V11h1.6v1.6h2.9v-2.8z",
  guardrails: "M8 2l5 2v4c0 3-2.2 5-5 6-2.8-1-5-3-5-6V4z",
  presets: "M3 4.5h5M11 4.5h2M3 11.5h2M8 11.5h5M9.5 3v3M6.5 10v3",
  team: "M6 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM1.8 13c.5-2 2.1-3 4.2-3s3.700 1 4.200 3M10.500 3.200a2.400 2.400 0 0 1 0 4.600M12.300 10.400c1 .5 1.600 1.400 1.900 2.600",
  settings:
    "M8 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM8 1.800v2M8 12.200v2M1.800 8h2M12.200 8h2M3.600 3.600L5 5M11 11l1.400 1.400M12.400 3.600L11 5M5 11l-1.400 1.400",
  docs: "M3.500 2.500h7l2 2v9h-9zM6 7h4.500M6 9.500h4.500",
  search: "M7 11.500a4.500 4.500 0 1 0 0-9 4.500 4.500 0 0 0 0 9zM10.500 10.500l3 3",
  more: "M4 8h.01M8 8h.01M12 8h.01",
  plus: "M8 3v10M3 8h10",
  close: "M4 4l8 8M12 4l-8 8",
  down: "M4.500 6.500L8 10l3.500-3.500",
  right: "M6.500 4.500L10 8l-3.500 3.500",
  up: "M4.500 9.500L8 6l3.500 3.500",
  left: "M9.500 4.500L6 8l3.500 3.500",
  copy: "M5.500 5.500v-3h8v8h-3M2.500 5.500h8v8h-8z",
  check: "M3 8.500l3.500 3.500L13 5",
  send: "M8 13V3M3.500 7.500L8 3l4.500 4.500",
  stop: "M4.500 4.500h7v7h-7z",
  play: "M5 3.500v9l7-4.500z",
  pause: "M5.500 3.500v9M10.500 3.500v9",
  person:
    "M8 8a2.700 2.700 0 1 0 0-5.400A2.700 2.700 0 0 0 8 8zM3 13.500c.6-2.200 2.500-3.300 5-3.300s4.400 1.100 5 3.300",
  workspace: "M2.500 4.500h4l1.500 2h5.500v7h-11z",
  app: "M2.500 3h11v10h-11zM2.500 6h11",
  sun: "M8 10.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5zM8 2v1.500M8 12.500V14M2 8h1.500M12.500 8H14M3.800 3.800l1 1M11.200 11.200l1 1M12.200 3.800l-1 1M4.800 11.200l-1 1",
  pencil: "M10.500 3l2.500 2.500-7.500 7.500H3v-2.500z",
  trash: "M3 4.500h10M6.500 4.500v-2h3v2M4.500 4.500l.5 9h6l.5-9",
  external: "M9.500 2.500h4v4M13.500 2.500L7.500 8.500M6.500 3.500h-4v10h10v-4",
  link: "M6.500 9.500l3-3M7 4.500l1.500-1.500a3 3 0 0 1 4.500 4.500L11.500 9M9 11.500L7.500 13A3 3 0 0 1 3 8.500L4.500 7",
  wrench:
    "M10 2.500a3.500 3.500 0 0 0-3.300 4.600L2.500 11.300v2.200h2.200l4.200-4.200A3.500 3.500 0 0 0 13.300 5l-2 2-2.300-.3L8.700 4.500z",
} as const

export type IconName = keyof typeof PATHS

/** Decorative: hidden from assistive technology. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 16 16" aria-hidden="true">
      <path
        d={PATHS[name]}
        fill="none"
        stroke="currentColor"
        stroke-width={name === "more" ? 2 : 1.3}
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  )
}
