import { html, raw } from "hono/html"

/** The authorization page, as HTML without a script. */

const STYLE = raw(`
  body { font: 16px/1.5 system-ui, sans-serif; color: #1c1c1e; background: #f4f4f6; margin: 0 }
  main { max-width: 26rem; margin: 10vh auto; background: #fff; padding: 2rem; border-radius: 12px }
  h1 { font-size: 1.25rem; margin: 0 0 1rem } li { margin: .25rem 0 } .note { color: #6b6b70; font-size: .875rem }
  label { display: block; margin: 1rem 0 .25rem } input { width: 100%; box-sizing: border-box; font: inherit; padding: .5rem }
  button { font: inherit; padding: .5rem 1rem; margin: 1rem .5rem 0 0; border-radius: 8px; border: 1px solid #c7c7cc }
  button[value=approve], button[value=sign_in] { background: #1c1c1e; color: #fff; border-color: #1c1c1e }
  .fault { color: #a4262c } code { overflow-wrap: anywhere }`)

export type Html = ReturnType<typeof html>

function document(title: string, nonce: string, content: Html): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <title>${title}</title>
        <style nonce="${nonce}">
          ${STYLE}
        </style>
      </head>
      <body>
        <main>
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

type Approval = { app: string; query: string; token: string; nonce: string }

export function signInPage({ app, query, token, nonce }: Approval, fault: string | undefined): Html {
  const fields = html`<label for="api_key">Your API key</label>
    <input id="api_key" name="api_key" type="password" autocomplete="off" spellcheck="false" required autofocus />
    <button name="action" value="sign_in">Sign in</button>`
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
}

export function consentPage({ app, query, token, nonce, ...consent }: Consent): Html {
  const facts = [...consent.facts, `Will be named ${consent.keyName}.`]
  const buttons = html`<button name="action" value="approve">Allow</button
    ><button name="action" value="deny">Refuse</button> <button name="action" value="sign_out">Use another key</button>`
  const content = html`<p><b>${app}</b> requests a key of the workspace <b>${consent.workspace}</b>. The key:</p>
    <ul>
      ${facts.map((fact) => html`<li>${fact}</li>`)}
    </ul>
    <p class="note">
      It is sent to <code>${consent.callbackUrl}</code>. You are signed in with the key
      <code>${consent.signedInAs}</code>.
    </p>
    ${form(query, token, buttons)}`
  return document(`Give ${app} a key?`, nonce, content)
}

export function faultPage(nonce: string, message: string): Html {
  return document("This cannot be done", nonce, alert(message))
}
