import { define, oneOf, text, toolTypes } from "./variable.ts"

/** Variables about providers. */
export const providerVariables = {
  CUSTOM_PROVIDERS: define({
    schema: text.default("[]"),
    section: "providers",
    effect: "JSON array of your servers, see [custom providers](#custom-providers).",
    isSecret: true,
  }),
  LOCAL_PROVIDERS: define({
    schema: text.default("[]"),
    section: "providers",
    effect:
      "The same shape, set by `npm start` for servers that it finds on this machine. A slug in `CUSTOM_PROVIDERS` wins.",
    isSecret: true,
  }),
  PROVIDER_REGIONS: define({
    schema: text.default("{}"),
    section: "providers",
    effect: 'Regions of built-in providers, which you assert: `{"mistral":["europe"]}`.',
  }),
  UNPRICED_TOOLS: define({
    schema: toolTypes.optional(),
    section: "providers",
    effect:
      "Types of providers' tools, separated by commas, that calls with the gateway's key may use although their charges have no price: `code_interpreter,image_generation`. See [prices](providers.md#prices).",
    unset: "none",
  }),
  PROVIDER_STORAGE: define({
    schema: oneOf(["byok", "shared"]).default("byok"),
    section: "providers",
    effect:
      "Which calls may name files, vector stores, containers and cached prompts in an account at a provider: `byok` only calls with a BYOK credential of the workspace, `shared` also calls with the gateway's key, whose account all workspaces share.",
  }),
}
