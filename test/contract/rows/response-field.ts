import { each, type FieldRow, nullable, shared } from "./field.ts"

export const responsesRows: FieldRow[] = [
  ...shared,
  {
    promise: "input is a string or an array of items",
    accepts: each("input", "Hi", [{ type: "message", role: "user", content: "Hi" }]),
    refuses: each("input", 5, undefined),
  },
  {
    promise: "keys of metadata have no brackets",
    refuses: each("metadata", { "a[b]": "x" }),
  },
  {
    promise: "background is a boolean or null",
    accepts: each("background", null, false, true),
    refuses: each("background", "no"),
  },
  { promise: "model is a string", accepts: each("model", "sim/echo"), refuses: each("model", 7) },
  { promise: "instructions is a string", accepts: each("instructions", "Be brief"), refuses: each("instructions", 7) },
  { promise: "stream is a boolean", accepts: each("stream", false), refuses: each("stream", "yes") },
  {
    promise: "debug is for streams only",
    accepts: [{ stream: true, debug: { echo_upstream_body: true } }],
    refuses: each("debug", { echo_upstream_body: true }),
  },
  {
    promise: "max_tool_calls is an integer of at most 30",
    accepts: each("max_tool_calls", 30),
    refuses: each("max_tool_calls", 31),
  },
  {
    promise: "modalities are text or image",
    accepts: each("modalities", ["text", "image"]),
    refuses: each("modalities", ["audio"]),
  },
  {
    promise: "reasoning has effort, summary and enabled",
    accepts: each("reasoning", { effort: "medium", summary: "auto", enabled: true }),
    refuses: each("reasoning", { effort: "huge" }),
  },
  {
    promise: "include has five allowed values",
    accepts: each("include", [
      "file_search_call.results",
      "message.input_image.image_url",
      "computer_call_output.output.image_url",
      "reasoning.encrypted_content",
      "code_interpreter_call.outputs",
    ]),
    refuses: each("include", ["everything"]),
  },
  {
    promise: "a reference to a prior response or a conversation is refused unless it is null",
    accepts: nullable("previous_response_id", "conversation"),
    refuses: [...each("previous_response_id", "resp_1"), ...each("conversation", "c")],
  },
  {
    promise: "a reference to a stored prompt is refused unless it is null",
    accepts: nullable("prompt"),
    refuses: each("prompt", { id: "p" }),
  },
]
