import * as z from "zod"
import { type ServerTool, type ToolOutcome, failure } from "./tool.ts"

const ZONE_RULE = 'must be an IANA time zone, such as "Europe/Berlin"'

export const DatetimeConfig = z.object(
  { timezone: z.string({ error: ZONE_RULE }).refine(isTimeZone, { error: ZONE_RULE }).default("UTC") },
  { error: "must be an object" },
)
export type DatetimeConfig = z.infer<typeof DatetimeConfig>

const Arguments = z.object({ timezone: z.string().nullish() })

export const datetime: ServerTool<DatetimeConfig> = {
  kind: "datetime",
  definition: ({ timezone }) => ({
    description: "Returns the current date, time and weekday.",
    parameters: {
      type: "object",
      properties: {
        timezone: { type: "string", description: `An IANA time zone, such as Asia/Tokyo. Default: ${timezone}.` },
      },
      additionalProperties: false,
    },
  }),
  run: async (args, config, { now }) => emit(args, config, now()),
}

function emit(args: unknown, config: DatetimeConfig, at: number): ToolOutcome {
  const parsed = Arguments.safeParse(args)
  const timezone = (parsed.success && parsed.data.timezone) || config.timezone
  if (!parsed.success || !isTimeZone(timezone)) {
    return failure(`timezone ${ZONE_RULE}.`, { datetime: toIso(at, config.timezone), timezone: config.timezone })
  }
  const iso = toIso(at, timezone)
  const weekday = new Intl.DateTimeFormat("en", { timeZone: timezone, weekday: "long" }).format(at)
  return {
    content: `${iso} (${weekday}, time zone ${timezone})`,
    isError: false,
    costNano: 0,
    searches: 0,
    item: { datetime: iso, timezone },
    citations: [],
  }
}

/** ISO 8601 to the second, with the zone's offset at that instant. */
export function toIso(epochMs: number, timeZone: string): string {
  const parts = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    timeZoneName: "longOffset",
  }).formatToParts(epochMs)
  const part = (type: string) => parts.find((one) => one.type === type)?.value ?? ""
  // "GMT+05:30"; plain "GMT" is offset zero.
  const offset = part("timeZoneName").replace("GMT", "") || "+00:00"
  return `${part("year")}-${part("month")}-${part("day")}T${part("hour")}:${part("minute")}:${part("second")}${offset}`
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).format(0) !== ""
  } catch {
    return false
  }
}
