import { account, document, keys, lifecycle, records, relay, requests, runs, statuses, vault } from "./proofs.ts"
import { rowsOf, testsIn } from "./rows.ts"

const CHAT = records("a chat completion has every field of its result, and no routing metadata unless it was requested")
const METADATA = records("%s: enabled adds routing metadata")
const BLOCKED = records("a guardrail that blocks returns its patterns, and its stage if metadata was requested")
const RESPONSE = records("a response has every field of its result")
const PRESET = records("a preset has every field; a second call creates a new version; other fields are ignored")
const INTERN = records("an intern has every field, and a status of the eight")
const KEY = records("GET /key has every field of the calling key, with its label masked")
const MODELS = records("embedding models have every field, prices as decimal strings and a working details path")
const SCIM = account("a SCIM group and its mapping have every field")
const JOB = records("a SCIM sync job has every field")
const BYOK = records("a BYOK credential has every field and never the key")
const GUARDRAIL = records("guardrails and their assignments have every field")
const DESTINATION = records("an observability destination has every field, its credentials masked")
const SECRET = vault("stores a secret, returns all but its value, and deletes it")
const CELLS = testsIn("datasets/session-cost.worker.test.ts")(
  "returns the median cost by app, model and turns, for cells that are large enough",
)

/** Part "Resources and their fields". */
export const resourceRows = [
  ...rowsOf(
    "Conventions",
    [
      PRESET,
      "Timestamps are ISO 8601 strings.",
      "Identifiers are UUID strings.",
      "A single record of an account operation is in data.",
    ],
    [
      statuses("GET %s accepts a page size of 1 to 100 and a skip count from 0"),
      "A list is in data and carries its integer total_count.",
    ],
  ),
  ...rowsOf(
    "Error envelope",
    [
      statuses("%s: %i"),
      "error.code is the HTTP status.",
      "error.message is a text for people.",
      "error.metadata is optional.",
    ],
    [
      requests("a provider status %i for a response is %i in the envelope, with its code"),
      "metadata.provider_code is the provider's own code.",
    ],
    [
      runs("returns 503 busy when the intern has the maximum of open runs"),
      "metadata.reason is a string.",
      "metadata.retryable is a boolean.",
    ],
    [BLOCKED, "metadata.patterns names what a guardrail found."],
  ),
  ...rowsOf(
    "API key record",
    [
      KEY,
      "limit is a number of credits.",
      "limit_remaining is a number.",
      "limit_reset is a string, such as monthly.",
      "include_byok_in_limit is a boolean.",
      "byok_usage and its three windows are numbers.",
      "creator_user_id is a string.",
      "expires_at is a timestamp.",
      "is_free_tier, is_management_key and is_provisioning_key are booleans.",
      "rate_limit has interval, requests and note.",
    ],
    [keys("is masked in its label"), "label is the key, masked."],
    [keys("returns usage in every window"), "usage and its three windows are what was spent."],
    [document("the document marks %s.%s as deprecated"), "rate_limit is deprecated."],
  ),
  ...rowsOf(
    "Chat completion result",
    [
      CHAT,
      "id is a string.",
      "object is chat.completion.",
      "created is an integer of Unix seconds.",
      "model is a string.",
      "A choice has index, finish_reason and a message with role and content.",
      "system_fingerprint is a string or null.",
      "usage has integer counts of prompt, completion and all tokens.",
      "service_metadata is absent unless it was requested.",
    ],
    [requests("the tier that the provider used is in the result"), "service_tier is the tier that the provider used."],
    [
      records("a chat stream is chunks of one id and ends with the sentinel"),
      "object of a chunk is chat.completion.chunk.",
    ],
  ),
  ...rowsOf(
    "Routing metadata object",
    [
      METADATA,
      "attempt is an integer.",
      "requested is a string.",
      "strategy is a string.",
      "region is a string.",
      "is_byok is a boolean.",
      "summary is a string.",
      "endpoints has the total and those available, each with model, provider and selected.",
      "pipeline is an array of stages.",
    ],
    [
      BLOCKED,
      "A guardrail stage has the type guardrail, a name, the guardrail's id and scope, and a summary.",
      "The data of a guardrail stage has action, detected, engines and patterns.",
    ],
    [
      relay("routing metadata is part of an error and of a JSON response"),
      "attempt counts the providers that were asked.",
    ],
  ),
  ...rowsOf(
    "Responses result",
    [
      RESPONSE,
      "id is a string and object is response.",
      "created_at and completed_at are integers of Unix seconds.",
      "status is completed.",
      "model is a string.",
      "output is an array of items.",
      "A message item has id, type, role, status and content.",
      "A content part has the type output_text, text and annotations.",
      "error is null in a result without an error.",
      "incomplete_details, instructions, tool_choice and parallel_tool_calls are there.",
      "max_output_tokens and metadata are there, or null.",
      "tools is an array.",
      "temperature, top_p and both penalties are numbers or null.",
      "usage has input, output and total tokens, with cached and reasoning tokens.",
    ],
    [METADATA, "service_metadata is there when it was requested."],
  ),
  ...rowsOf("Preset", [
    PRESET,
    "A preset has id, name, slug, workspace_id and creator_user_id.",
    "description and status_updated_at may be null.",
    "status is active.",
    "created_at and updated_at are timestamps.",
    "designated_version_id names the designated version.",
    "A version has id, preset_id, an integer version, config and system_prompt.",
    "A version has creator_id and its two timestamps.",
  ]),
  ...rowsOf(
    "Intern",
    [
      INTERN,
      "id and workspace_id are UUIDs.",
      "status is one of eight values.",
      "created_at and updated_at are timestamps.",
      "attached_vault_id is a UUID or null.",
    ],
    [
      lifecycle("returns 409 name_taken for a name that its creator already uses in the workspace"),
      "A name is unique per creator within a workspace.",
    ],
    [
      lifecycle("the first chat boots a created intern with the default model, which running_model reports"),
      "model null is the default of the workspace.",
    ],
    [
      lifecycle("provision boots it, suspend stops it and keeps its disk, provision resumes it"),
      "hostname is null until the intern is provisioned.",
      "progress is null once provisioning has settled.",
    ],
    [
      lifecycle("provisioning reports that it waits for the daemon"),
      "progress is an object while the intern is provisioned.",
    ],
    [
      lifecycle("without a model and a default it fails, and the message names INTERN_MODEL"),
      "last_failure_message says why provisioning failed.",
    ],
    [
      lifecycle(
        "attaches the vault of another intern of the workspace, and returns 404 for a vault of another workspace",
      ),
      "vault_id is the vault of its own, attached_vault_id a borrowed one.",
    ],
  ),
  ...rowsOf("Intern daemon access", [
    lifecycle("of a running intern is revealed, never cached, and every reveal is in the audit log"),
    "origin is a URL.",
    "token is a credential.",
  ]),
  ...rowsOf(
    "Secret metadata",
    [
      SECRET,
      "A secret is described by name, hosts, fingerprint and created_at.",
      "A fingerprint is sha256: and hexadecimal digits.",
      "The value is never returned.",
    ],
    [
      vault("are equal only for equal values in one vault"),
      "Equal fingerprints in one vault mean equal values.",
      "The same value written again keeps its fingerprint.",
    ],
    [
      vault("of one value differ between vaults, and differ from its plain SHA-256"),
      "The same value in two vaults has two fingerprints.",
      "A fingerprint is keyed: it is no hash of the value alone.",
    ],
    [
      vault("copies all or none: a missing name returns 404, a secret without hosts 409"),
      "hosts and fingerprint of a record of an older version are null.",
      "Storing such a secret again gives it hosts.",
    ],
  ),
  ...rowsOf("SCIM group mapping", [SCIM, "A mapping has its ids, a role and two timestamps."]),
  ...rowsOf("SCIM group", [SCIM, "A group has its ids, display_name, external_id and two timestamps."]),
  ...rowsOf("SCIM sync job", [JOB, "A job has id, status, its two counts, three timestamps and error_message."]),
  ...rowsOf("BYOK credential", [
    BYOK,
    "A credential has id, workspace_id, name and provider.",
    "label masks the key.",
    "disabled, is_byok_only, is_fallback and is_required are booleans.",
    "sort_order is an integer.",
    "allowed_api_key_hashes, allowed_models and allowed_user_ids are lists or null.",
    "created_at is a timestamp.",
  ]),
  ...rowsOf("Guardrail", [
    GUARDRAIL,
    "A guardrail has id, workspace_id, name and description.",
    "limit_usd is a number and reset_interval a string.",
    "The four lists of providers and models are arrays or null.",
    "enforce_zdr and include_byok_in_budgets are booleans.",
    "created_at and updated_at are timestamps.",
  ]),
  ...rowsOf("Guardrail key assignment", [
    GUARDRAIL,
    "An assignment has its ids, key_hash, key_label, key_name, assigned_by and created_at.",
  ]),
  ...rowsOf("Guardrail member assignment", [
    GUARDRAIL,
    "An assignment has its ids, organization_id, user_id, assigned_by and created_at.",
  ]),
  ...rowsOf(
    "Observability destination",
    [
      DESTINATION,
      "A destination has id, workspace_id, name, type and enabled.",
      "config has the keys of its kind.",
      "Credentials in config are masked.",
      "api_key_hashes is a list or null, filter_rules may be null.",
      "regions is a list of strings and sampling_rate a number.",
      "privacy_mode and the three broadcast fields are booleans.",
      "created_at and updated_at are timestamps.",
    ],
    [
      testsIn("observability/destinations.worker.test.ts")(
        "of %s return no secret, and keep secrets that are sent back masked",
      ),
      "Every kind of destination masks its credentials.",
    ],
  ),
  ...rowsOf(
    "Session-cost dataset cell",
    [
      CELLS,
      "A cell has app_name, app_slug, model_permaslug, turn_range and median_session_cost_usd.",
      "median_session_cost_usd is the median of the sessions.",
    ],
    [
      records("the session-cost dataset has its version, its window and its creation time"),
      "meta has as_of, version, window_days and window_end_date.",
    ],
  ),
  ...rowsOf("Embeddings model", [
    MODELS,
    "A model has id, canonical_slug, name, description, created and context_length.",
    "architecture has modalities, instruct_type and tokenizer.",
    "pricing is decimal strings for prompt, completion, image and request.",
    "top_provider has is_moderated, context_length and max_completion_tokens.",
    "links.details is a path that answers.",
    "supported_parameters is an array.",
    "The other six fields are there, or null.",
  ]),
]
