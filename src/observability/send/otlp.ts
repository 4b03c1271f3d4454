import { type CallEvent, type Flags, timesOf, traceOf } from "../event.ts"
import { type Attributes, attributesOf } from "./attributes.ts"
import { isDouble, SCHEMA_URL } from "./conventions.ts"
import { type Step, stepsOf } from "./steps.ts"

/**
 * Calls as OTLP/JSON: an ExportTraceServiceRequest with a span per call, with `gen_ai.*` attributes, and child spans for
 * its steps. Pure.
 */

type Value =
  | { stringValue: string }
  | { boolValue: boolean }
  | { intValue: string }
  | { doubleValue: number }
  | { arrayValue: { values: Value[] } }
type Attribute = { key: string; value: Value }

export const SERVICE = "edge-model-gateway"
const SPAN_KIND_INTERNAL = 1
const SPAN_KIND_CLIENT = 3
const STATUS_UNSET = 0
const STATUS_ERROR = 2

/** Attributes that a kind of destination reads besides the conventions, for the resource and for each span. */
export type Extras = { resource?: Attributes; span?: (event: CallEvent, flags: Flags) => Attributes }

export function toOtlp(events: readonly CallEvent[], flags: Flags, more: Extras = {}) {
  return {
    resourceSpans: [
      {
        resource: { attributes: toAttributes({ "service.name": SERVICE, ...more.resource }) },
        scopeSpans: [
          {
            scope: { name: SERVICE },
            spans: events.flatMap((event) => [toSpan(event, flags, more), ...stepsOf(event).map(toStepSpan)]),
            schemaUrl: SCHEMA_URL,
          },
        ],
        schemaUrl: SCHEMA_URL,
      },
    ],
  }
}

function toSpan(event: CallEvent, flags: Flags, { span }: Extras) {
  const { startedAt, endedAt } = timesOf(event)
  const { traceId, spanId, parentSpanId, name } = traceOf(event)
  const { ending, status } = event.generation
  const isFailure = ending !== "complete" && ending !== "cancelled"
  return {
    traceId,
    spanId,
    ...(parentSpanId !== null && { parentSpanId }),
    name,
    kind: SPAN_KIND_CLIENT,
    startTimeUnixNano: toNano(startedAt),
    endTimeUnixNano: toNano(endedAt),
    attributes: toAttributes({ ...attributesOf(event, flags), ...span?.(event, flags) }),
    status: isFailure
      ? { code: STATUS_ERROR, message: `The call ended as ${ending} (${status}).` }
      : { code: STATUS_UNSET },
  }
}

function toStepSpan({ isUpstream, startedAt, endedAt, attributes, error, ...ids }: Step) {
  return {
    ...ids,
    kind: isUpstream ? SPAN_KIND_CLIENT : SPAN_KIND_INTERNAL,
    startTimeUnixNano: toNano(startedAt),
    endTimeUnixNano: toNano(endedAt),
    attributes: toAttributes(attributes),
    status: error === null ? { code: STATUS_UNSET } : { code: STATUS_ERROR, message: error },
  }
}

/** As a string: a 64-bit number has no place in JSON. */
function toNano(epochMs: number): string {
  return `${epochMs}000000`
}

/** Drops attributes without a value. */
function toAttributes(values: Attributes): Attribute[] {
  return Object.entries(values).flatMap(([key, value]) => {
    const result = typeof value === "number" && isDouble(key) ? { doubleValue: value } : toValue(value)
    return result === undefined ? [] : [{ key, value: result }]
  })
}

function toValue(value: unknown): Value | undefined {
  if (value === null || value === undefined) return undefined
  if (typeof value === "string") return { stringValue: value }
  if (typeof value === "boolean") return { boolValue: value }
  if (typeof value === "number")
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value }
  const isTexts = Array.isArray(value) && value.every((one) => typeof one === "string")
  if (isTexts) return { arrayValue: { values: value.map((one) => ({ stringValue: one })) } }
  return { stringValue: JSON.stringify(value) }
}
