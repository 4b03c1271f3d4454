import type { Plugin } from "vite"

/** Markdown files as text, as the rule of wrangler.toml bundles them. */
export function markdownAsText(): Plugin {
  return {
    name: "markdown-as-text",
    transform: (code, id) =>
      id.endsWith(".md") ? { code: `export default ${JSON.stringify(code)}`, map: null } : null,
  }
}
