import { html } from "hono/html"
import { alert, document, type Html } from "../http/page.ts"

/** The authorization page, as HTML without script. */

/** A form that posts back to this page. `query`: the app's request, unchanged. */
function form(query: string, token: string, content: Html): Html {
  return html`<form method="post" action="/auth?${query}">
    <input type="hidden" name="token" value="${token}" />${content}
  </form>`
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
  /** Whether the app sent a PKCE challenge. Without one, anyone who sees the code can exchange it. */
  hasChallenge: boolean
}

export function consentPage({ app, query, token, nonce, ...consent }: Consent): Html {
  const facts = [...consent.facts, `Will be named ${consent.keyName}.`]
  const buttons = html`<div class="buttons">
    <button name="action" value="approve">Allow</button>
    <button name="action" value="deny">Deny</button>
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

export function errorPage(nonce: string, message: string): Html {
  return document("This is not possible", nonce, alert(message))
}
