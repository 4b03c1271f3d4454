import { type CallEvent, type ExportEvent, type Flags, isTurn, timesOf, traceOf } from "../event.ts"
import type { TurnEvent } from "../turn.ts"
import { type Attributes, attributesOf } from "./attributes.ts"
import { isDouble, SCHEMA_URL } from "./conventions.ts"
import { type Step, stepsOf } from "./steps.ts"
import { type TurnSpan, turnSpansOf } from "./turns.ts"

/**
 * Calls and turns as OTLP/JSON: an ExportTraceServiceRequest with a span for each, with `gen_ai.*` attributes, and
 * child spans for steps and questions. Pure.
 */

type Value =
  | { stringValue: string }
  | { boolValue: boolean }
  | { intValue: string }
  | { doubleValue: number }
  | { arrayValue: { values: Value[] } }
type Attribute = { key: string; value: Value }
type Span = {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: Attribute[]
  status: { code: number; message?: string }
}

export const SERVICE = "edge-model-gateway"
const SPAN_KIND_INTERNAL = 1
const SPAN_KIND_CLIENT = 3
const STATUS_UNSET = 0
const STATUS_ERROR = 2

/** Attributes beyond the conventions that a kind of destination reads, for the resource and for each span. */
export type Extras = {
  resource?: Attributes
  span?: (event: CallEvent, flags: Flags) => Attributes
  turn?: (event: TurnEvent) => Attributes
}

export function toOtlp(events: readonly ExportEvent[], flags: Flags, more: Extras = {}) {
  return {
    resourceSpans: [
      {
        resource: { attributes: toAttributes({ "service.name": SERVICE, ...more.resource }) },
        scopeSpans: [
          {
            scope: { name: SERVICE },
            spans: events.flatMap((event) => toSpansOf(event, flags, more)),
            schemaUrl: SCHEMA_URL,
          },
        ],
        schemaUrl: SCHEMA_URL,
      },
    ],
  }
}

function toSpansOf(event: ExportEvent, flags: Flags, more: Extras): Span[] {
  if (isTurn(event)) return turnSpansOf(event, flags, more.turn?.(event)).map((span) => toStepSpan(span))
  return [toSpan(event, flags, more), ...stepsOf(event).map(toStepSpan)]
}

function toSpan(event: CallEvent, flags: Flags, { span }: Extras): Span {
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

function toStepSpan(step: Step | TurnSpan): Span {
  const { isUpstream, startedAt, endedAt, attributes, error, ...ids } = { isUpstream: false, ...step }
  return {
    ...ids,
    kind: isUpstream ? SPAN_KIND_CLIENT : SPAN_KIND_INTERNAL,
    startTimeUnixNano: toNano(startedAt),
    endTimeUnixNano: toNano(endedAt),
    attributes: toAttributes(attributes),
    status: error === null ? { code: STATUS_UNSET } : { code: STATUS_ERROR, message: error },
  }
}

/** As a string: JSON numbers cannot hold 64 bits. */
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
