import { html, raw } from "hono/html"

/** The authorization page, as HTML without a script. */

/** The look of the console (src/console/styles), in the few rules that this page needs. */
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
    border: 1px solid var(--line); border-radius: 6px; cursor: pointer }
  button[value=approve], button[value=sign_in] { background: var(--accent); color: var(--on-accent); border-color: var(--accent) }
  button[value=sign_out] { margin-inline-start: auto; border-color: transparent; color: var(--accent); background: none }
  :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
  .fault { color: var(--bad); background: var(--bad-soft); padding: 10px 12px; border-radius: 6px }`)

export type Html = ReturnType<typeof html>

function document(title: string, nonce: string, content: Html): Html {
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

/** A form that posts back to this page. `query`: the app's request, unchanged. */
function form(query: string, token: string, content: Html): Html {
  return html`<form method="post" action="/auth?${query}">
    <input type="hidden" name="token" value="${token}" />${content}
  </form>`
}

function alert(message: string): Html {
  return html`<p class="fault" role="alert">${message}</p>`
}

const NO_CHALLENGE =
  "This app sent no code challenge (PKCE): anyone who sees its return address can take the key. Allow it only if you trust the app and this device."

type Approval = { app: string; query: string; token: string; nonce: string }

export function signInPage({ app, query, token, nonce }: Approval, fault: string | undefined): Html {
  const fields = html`<div class="field">
      <label for="api_key">Your API key</label>
      <input id="api_key" name="api_key" type="password" autocomplete="off" spellcheck="false" required autofocus />
    </div>
    <div class="buttons"><button name="action" value="sign_in">Sign in</button></div>`
  const content = html`<p>
      <b>${app}</b> requests a key of this gateway. Sign in with one of your API keys: a management key or a normal one.
      It is not stored, and the app does not see it.
    </p>
    ${fault === undefined ? "" : alert(fault)}${form(query, token, fields)}`
  return document("Sign in", nonce, content)
}

export type Consent = Approval & {
  workspace: string
  signedInAs: string
  keyName: string
  callbackUrl: string
  facts: string[]
  /** Whether the app sent a PKCE challenge, without which anyone who reads the code can exchange it. */
  hasChallenge: boolean
}

export function consentPage({ app, query, token, nonce, ...consent }: Consent): Html {
  const facts = [...consent.facts, `Will be named ${consent.keyName}.`]
  const buttons = html`<div class="buttons">
    <button name="action" value="approve">Allow</button>
    <button name="action" value="deny">Refuse</button>
    <button name="action" value="sign_out">Use another key</button>
  </div>`
  const content = html`<p><b>${app}</b> requests a key of the workspace <b>${consent.workspace}</b>. The key:</p>
    <ul>
      ${facts.map((fact) => html`<li>${fact}</li>`)}
    </ul>
    <p class="note">
      It is sent to <code>${consent.callbackUrl}</code>. You are signed in with the key
      <code>${consent.signedInAs}</code>.
    </p>
    ${consent.hasChallenge ? "" : alert(NO_CHALLENGE)} ${form(query, token, buttons)}`
  return document(`Give ${app} a key?`, nonce, content)
}

export function faultPage(nonce: string, message: string): Html {
  return document("This cannot be done", nonce, alert(message))
}
