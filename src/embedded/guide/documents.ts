import readme from "../../../README.md"
import docsIndex from "../../../docs/README.md"
import adding from "../../../docs/adding.md"
import architecture from "../../../docs/architecture.md"
import authority from "../../../docs/authority.md"
import claudeAgent from "../../../docs/agents/claude.md"
import codexAgent from "../../../docs/agents/codex.md"
import opencodeAgent from "../../../docs/agents/opencode.md"
import geminiAgent from "../../../docs/agents/gemini.md"
import qwenAgent from "../../../docs/agents/qwen.md"
import alerts from "../../../docs/alerts.md"
import batches from "../../../docs/batches.md"
import billing from "../../../docs/billing.md"
import byok from "../../../docs/byok.md"
import calls from "../../../docs/calls.md"
import clients from "../../../docs/clients.md"
import configuration from "../../../docs/configuration.md"
import console from "../../../docs/console.md"
import daemon from "../../../docs/daemon.md"
import declaredConfiguration from "../../../docs/declared-configuration.md"
import deploy from "../../../docs/deploy.md"
import firstMinutes from "../../../docs/first-minutes.md"
import guardrails from "../../../docs/guardrails.md"
import interns from "../../../docs/interns.md"
import mcp from "../../../docs/mcp.md"
import passthrough from "../../../docs/passthrough.md"
import oauth from "../../../docs/oauth.md"
import observability from "../../../docs/observability.md"
import operations from "../../../docs/operations.md"
import performance from "../../../docs/performance.md"
import scale from "../../../docs/scale.md"
import providers from "../../../docs/providers.md"
import quickStart from "../../../docs/quick-start.md"
import realtime from "../../../docs/realtime.md"
import recipes from "../../../docs/recipes.md"
import responseCache from "../../../docs/response-cache.md"
import routing from "../../../docs/routing.md"
import scim from "../../../docs/scim.md"
import security from "../../../docs/security.md"
import selfHosting from "../../../docs/self-hosting.md"
import serverTools from "../../../docs/server-tools.md"
import streaming from "../../../docs/streaming.md"
import vault from "../../../docs/vault.md"

/** The documentation that the guide searches. A test compares this list with the folder. */
export const documents: readonly { path: string; text: string }[] = [
  { path: "README.md", text: readme },
  { path: "docs/README.md", text: docsIndex },
  { path: "docs/adding.md", text: adding },
  { path: "docs/agents/claude.md", text: claudeAgent },
  { path: "docs/agents/codex.md", text: codexAgent },
  { path: "docs/agents/opencode.md", text: opencodeAgent },
  { path: "docs/agents/gemini.md", text: geminiAgent },
  { path: "docs/agents/qwen.md", text: qwenAgent },
  { path: "docs/alerts.md", text: alerts },
  { path: "docs/architecture.md", text: architecture },
  { path: "docs/authority.md", text: authority },
  { path: "docs/batches.md", text: batches },
  { path: "docs/billing.md", text: billing },
  { path: "docs/byok.md", text: byok },
  { path: "docs/calls.md", text: calls },
  { path: "docs/clients.md", text: clients },
  { path: "docs/configuration.md", text: configuration },
  { path: "docs/console.md", text: console },
  { path: "docs/daemon.md", text: daemon },
  { path: "docs/declared-configuration.md", text: declaredConfiguration },
  { path: "docs/deploy.md", text: deploy },
  { path: "docs/first-minutes.md", text: firstMinutes },
  { path: "docs/guardrails.md", text: guardrails },
  { path: "docs/interns.md", text: interns },
  { path: "docs/mcp.md", text: mcp },
  { path: "docs/passthrough.md", text: passthrough },
  { path: "docs/oauth.md", text: oauth },
  { path: "docs/observability.md", text: observability },
  { path: "docs/operations.md", text: operations },
  { path: "docs/performance.md", text: performance },
  { path: "docs/scale.md", text: scale },
  { path: "docs/providers.md", text: providers },
  { path: "docs/quick-start.md", text: quickStart },
  { path: "docs/realtime.md", text: realtime },
  { path: "docs/recipes.md", text: recipes },
  { path: "docs/response-cache.md", text: responseCache },
  { path: "docs/routing.md", text: routing },
  { path: "docs/scim.md", text: scim },
  { path: "docs/security.md", text: security },
  { path: "docs/self-hosting.md", text: selfHosting },
  { path: "docs/server-tools.md", text: serverTools },
  { path: "docs/streaming.md", text: streaming },
  { path: "docs/vault.md", text: vault },
]
