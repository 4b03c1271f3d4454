import type { GenerationDraft } from "../../src/ledger/generation.ts"

/** The draft of a chat call that starts now, for tests that call the ledger directly. */
export function newTestDraft(
  of: Pick<GenerationDraft, "id" | "organizationId" | "workspaceId" | "keyHash">,
): GenerationDraft {
  return {
    ...of,
    createdAt: Date.now(),
    requestId: "r",
    apiType: "completions",
    requestedModel: "sim/echo",
    streamed: false,
    sessionId: null,
    appUrl: null,
    appTitle: null,
    userAgent: null,
    promptEstimate: 0,
  }
}
