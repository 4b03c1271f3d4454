import { agent, defaults, document, faults, relay, requests } from "./proofs.ts"
import { rowsOf, testsIn } from "./rows.ts"

const FORWARDED = requests("forwards %j unchanged")
const SESSION = requests("%s: the session is that of the body, or else that of the header")
const LOOP = agent("%j: ends after %i rounds, the last with tool_choice none")
const DELIVERY = testsIn("observability/delivery.worker.test.ts")
const toMessages = testsIn("formats/messages/to-body.test.ts")
const names = testsIn("routing/names.test.ts")

/** Effects of request fields. Accepted and rejected values are in field.ts and response-field.ts. */
export const requestRows = [
  ...rowsOf(
    "What the service does",
    [
      requests("%s: a response is a document unless stream is true"),
      "Chat completions and responses are JSON or server-sent events.",
    ],
    [names("%s resolves to %s"), "A model is named by its author and slug."],
    [names("%s is split to %s with %j"), "A :variant behind the slug chooses among the endpoints of the model."],
    [
      faults("a model list falls back to the next model, and only the model that responded is charged"),
      "A request is routed to a provider of one of the requested models.",
    ],
    [
      testsIn("inference/embeddings.worker.test.ts")("texts with common words are closer than texts without"),
      "Embeddings are made.",
    ],
    [
      testsIn("inference/responses.worker.test.ts")("takes instructions, a conversation and a tool over two turns"),
      "The responses API is stateless: each request has the whole conversation in input.",
    ],
    [
      relay("%s: enabled adds routing metadata before [DONE]"),
      "Routing metadata is requested by a header, for each call.",
    ],
    [document("%s: has operations at %s"), "Each of the 29 groups of operations exists."],
  ),
  ...rowsOf(
    "Chat completion request",
    [
      requests("forwards messages of five roles with their names and their breakpoints"),
      "Messages of all five variants and their names reach the provider.",
      "An explicit breakpoint of a content block reaches the provider.",
    ],
    [
      FORWARDED,
      "frequency_penalty and presence_penalty reach the provider.",
      "temperature and top_p reach the provider.",
      "min_p reaches the provider.",
      "seed and stop reach the provider.",
      "logit_bias reaches the provider.",
      "logprobs and top_logprobs reach the provider.",
      "image_config reaches the provider with whatever keys it has.",
      "modalities reach the provider.",
      "response_format reaches the provider.",
      "tools and tool_choice reach the provider.",
      "parallel_tool_calls reaches the provider, true or false.",
      "A repetition penalty reaches the provider.",
      "A predicted output reaches the provider.",
      "Controls of the prompt cache reach the provider.",
    ],
    [
      toMessages("with cache_control at the top level marks %s"),
      "cache_control at the top puts a breakpoint on the last cacheable block.",
    ],
    [
      toMessages("cache breakpoints of chat become cache_control"),
      "In the explicit mode of the prompt cache the marked blocks are cached.",
    ],
    [
      relay("debug.echo_upstream_body returns the upstream request"),
      "debug.echo_upstream_body shows the body that the provider was sent.",
    ],
    [
      requests("limits the output by max_completion_tokens, or by max_tokens without it"),
      "max_completion_tokens limits the output.",
      "max_tokens does so where the newer field is absent.",
    ],
    [document("the document marks %s.%s as deprecated"), "max_tokens is deprecated.", "route is deprecated."],
    [
      requests("does not forward metadata, session, plugins and routing preferences"),
      "Fields for the gateway itself are not sent to a provider.",
    ],
    [
      faults("a model list falls back to the next model, and only the model that responded is charged"),
      "models are candidates, tried in their order.",
    ],
    [
      agent("auto-router picks a model from allowed_models"),
      "The plugin auto-router chooses among the models that its lists leave.",
    ],
    [
      testsIn("inference/request.worker.test.ts")("with allow_fallbacks: false tries one target"),
      "allow_fallbacks: false asks one provider.",
    ],
    [
      requests("sends the reasoning effort alike in either form"),
      "The shorthand of the reasoning effort is the same as reasoning.effort.",
      "reasoning.summary reaches the provider.",
    ],
    [
      defaults("route is the older name of the partition of the provider's sort: fallback is model, sort is none"),
      "route fallback is the partition model.",
      "route sort is the partition none.",
      "route null is no route.",
    ],
    [requests("%s: the tier fast is priority at the provider"), "The service tier fast is another name of priority."],
    [
      testsIn("routing/plan.test.ts")("is stable for a session and spread across sessions"),
      "session_id is the key of sticky routing.",
    ],
    [
      DELIVERY("reaches a webhook signed, with its trace, its session and its content"),
      "session_id groups the calls of a destination.",
      "trace_id and parent_span_id place a call in its trace.",
      "trace_name is in the metadata of a trace.",
      "Other keys of trace reach destinations as metadata.",
    ],
    [
      testsIn("observability/send.test.ts")("names its spans by generation_name, then span_name, then the model"),
      "generation_name and span_name name a span.",
    ],
    [SESSION, "The header x-session-id is read.", "session_id of the body wins over the header."],
    [requests("%s: a response is a document unless stream is true"), "stream is false unless it is given."],
    [relay("include_usage: false removes the usage"), "stream_options.include_usage decides on the usage of a stream."],
    [agent("applies a forced tool_choice to the first round only"), "tool_choice may force a call."],
    [
      testsIn("contract/user.worker.test.ts")("%s: user reaches a provider as a stable pseudonym, never raw"),
      "user identifies an end user to the provider by a pseudonym.",
    ],
  ),
  ...rowsOf(
    "Responses request",
    [
      testsIn("inference/responses.worker.test.ts")("takes instructions, a conversation and a tool over two turns"),
      "input may be an array of items, such as messages.",
      "instructions go before the conversation.",
    ],
    [
      agent("ends after max_tool_calls steps on /responses, unless stop_server_tools_when sets another limit"),
      "max_tool_calls limits the steps of server tools.",
      "max_tool_calls is ignored where stop_server_tools_when is set.",
    ],
    [
      LOOP,
      "Without a limit there are 30 steps of server tools.",
      "The first condition that fires ends the loop.",
      "When a condition fires, pending calls run and a last turn has no tool calls.",
      "step_count_is ends the loop after its step_count.",
    ],
    [
      testsIn("contract/user.worker.test.ts")("%s: user reaches a provider as a stable pseudonym, never raw"),
      "user never reaches a provider raw.",
      "user is stable for the same end user.",
    ],
    [SESSION, "session_id is read as in chat completions."],
    [requests("%s: the tier fast is priority at the provider"), "service_tier is read as in chat completions."],
    [requests("%s: a response is a document unless stream is true"), "stream selects server-sent events."],
    [
      testsIn("inference/responses.worker.test.ts")("%j is rejected with 400 and a message that names %s"),
      "A reference to a prior response or a stored prompt is a 400 that names the field.",
    ],
  ),
]
