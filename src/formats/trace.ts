import * as z from "zod"

const TRACE_RULE = "must be a string of at most 256 characters"
const traceText = z.string({ error: TRACE_RULE }).max(256, TRACE_RULE).nullish()

/** Trace names of a call for destinations. Other keys pass through as metadata. */
export const Trace = z.looseObject(
  {
    trace_id: traceText,
    trace_name: traceText,
    span_name: traceText,
    generation_name: traceText,
    parent_span_id: traceText,
  },
  { error: "must be an object" },
)
