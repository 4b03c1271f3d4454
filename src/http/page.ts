import type { Context } from "hono"
import { html, raw } from "hono/html"
import type { ContentfulStatusCode } from "hono/utils/http-status"
import type { App } from "../access/app.ts"

/** Standalone pages outside the console. */

/** The styles of the console (src/console/styles) that these pages need. */
const STYLE = raw(`
  :root { color-scheme: light dark;
    --bg: light-dark(oklch(97.6% .003 262), oklch(15.5% .008 262)); --raised: light-dark(#fff, oklch(22.5% .01 262));
    --line: light-dark(oklch(91.6% .005 262), oklch(28.5% .012 262)); --strong: light-dark(oklch(64% .014 262), oklch(54% .018 262));
    --text: light-dark(oklch(24% .014 262), oklch(93.5% .005 262)); --quiet: light-dark(oklch(44% .016 262), oklch(76% .012 262));
    --accent: light-dark(oklch(48.5% .19 268), oklch(75% .125 268)); --on-accent: light-dark(#fff, oklch(20% .05 268));
    --bad: light-dark(oklch(49% .185 26), oklch(75% .135 24)); --bad-soft: light-dark(oklch(95.5% .025 24), oklch(27.5% .055 24)) }
  * { box-sizing: border-box }
  body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 16px; color: var(--text); background: var(--bg);
    font: 400 13px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif }
  main { width: min(100%, 440px); display: grid; gap: 16px; background: var(--raised); padding: 28px;
    border: 1px solid var(--line); border-radius: 10px; overflow-wrap: anywhere }
  main:has(pre) { width: min(100%, 640px) }
  .mark { display: flex; align-items: center; gap: 8px; color: var(--quiet); font-weight: 500 }
  .mark svg { color: var(--accent); stroke: var(--on-accent) } .mark rect { stroke: none }
  h1 { font-size: 20px; font-weight: 600; margin: 0 } p { margin: 0 } form { display: grid; gap: 16px }
  ul { margin: 0; padding: 12px 12px 12px 28px; border: 1px solid var(--line); border-radius: 6px } li { margin: 4px 0 }
  .note { color: var(--quiet) } b { font-weight: 600 } code { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 12px }
  .field { display: grid; gap: 6px } label { font-weight: 500 }
  input { width: 100%; height: 36px; padding: 0 10px; font: inherit; color: inherit; background: var(--raised);
    border: 1px solid var(--strong); border-radius: 6px }
  .buttons { display: flex; flex-wrap: wrap; gap: 8px }
  button { height: 36px; padding: 0 14px; font: inherit; font-weight: 500; color: var(--text); background: var(--raised);
    border: 1px solid var(--strong); border-radius: 6px; cursor: pointer }
  button[value=approve], button[value=sign_in] { background: var(--accent); color: var(--on-accent); border-color: var(--accent) }
  button[value=sign_out] { margin-inline-start: auto; border-color: transparent; color: var(--accent); background: none }
  :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
  [hidden] { display: none !important } .part { display: grid; gap: 16px } .part .part { gap: 6px } h2 { font-size: 13px; font-weight: 500; margin: 0 }
  pre { margin: 0; padding: 10px 12px; border: 1px solid var(--line); border-radius: 6px; background: var(--bg); white-space: pre-wrap;
    font: 400 12px/1.5 ui-monospace, Menlo, Consolas, monospace }
  .fault { color: var(--bad); background: var(--bad-soft); padding: 10px 12px; border-radius: 6px }`)

export type Html = ReturnType<typeof html>

/** A page without navigation. */
export function document(title: string, nonce: string, content: Html): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <style nonce="${nonce}">
          ${STYLE}
        </style>
      </head>
      <body>
        <main>
          <div class="mark">
            <svg width="24" height="24" viewBox="0 0 32 32" aria-hidden="true">
              <rect width="32" height="32" rx="8" fill="currentColor" />
              <path
                d="M8 10h6a4 4 0 0 1 4 4v4a4 4 0 0 0 4 4h2M8 22h6a4 4 0 0 0 4-4v-4a4 4 0 0 1 4-4h2"
                fill="none"
                stroke-width="2.6"
                stroke-linecap="round"
              />
            </svg>
            Model gateway
          </div>
          <h1>${title}</h1>
          ${content}
        </main>
      </body>
    </html>`
}

export function alert(message: string): Html {
  return html`<p class="fault" role="alert">${message}</p>`
}

type PageOptions = {
  /**
   * Further origins that the response to a form may redirect to. Browsers also apply them to every redirect of the app,
   * and a policy cannot contain `[::1]`.
   */
  formTargets?: string
  /** Whether the page has a script, with the nonce. */
  hasScript?: boolean
}

/** Allows no frames, no scripts without the nonce, and only forms that post to this origin. */
export function showPage(
  c: Context<App>,
  status: ContentfulStatusCode,
  page: (nonce: string) => Html,
  { formTargets = "", hasScript = false }: PageOptions = {},
) {
  const nonce = crypto.randomUUID().replaceAll("-", "")
  const script = hasScript
    ? ` script-src 'nonce-${nonce}'; require-trusted-types-for 'script'; trusted-types 'none';`
    : ""
  const policy = `default-src 'none'; style-src 'nonce-${nonce}';${script} form-action 'self' ${formTargets}; frame-ancestors 'none'; base-uri 'none'`
  return c.html(page(nonce), status, {
    "content-security-policy": policy,
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cache-control": "no-store",
  })
}
