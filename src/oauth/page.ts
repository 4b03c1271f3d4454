/** The authorization page, as HTML without a script. */

const STYLE = `
  body { font: 16px/1.5 system-ui, sans-serif; color: #1c1c1e; background: #f4f4f6; margin: 0 }
  main { max-width: 26rem; margin: 10vh auto; background: #fff; padding: 2rem; border-radius: 12px }
  h1 { font-size: 1.25rem; margin: 0 0 1rem } li { margin: .25rem 0 } .note { color: #6b6b70; font-size: .875rem }
  label { display: block; margin: 1rem 0 .25rem } input { width: 100%; box-sizing: border-box; font: inherit; padding: .5rem }
  button { font: inherit; padding: .5rem 1rem; margin: 1rem .5rem 0 0; border-radius: 8px; border: 1px solid #c7c7cc }
  button[value=approve], button[value=sign_in] { background: #1c1c1e; color: #fff; border-color: #1c1c1e }
  .fault { color: #a4262c } code { overflow-wrap: anywhere }`

export function escape(text: string): string {
  const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" }
  return text.replaceAll(/[&<>"']/g, (char) => entities[char] ?? char)
}

function document(title: string, nonce: string, content: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escape(title)}</title><style nonce="${nonce}">${STYLE}</style></head><body><main><h1>${escape(title)}</h1>
${content}</main></body></html>`
}

/** A form that comes back to this page. `query`: the app's request, as it came. */
function form(query: string, token: string, content: string): string {
  return `<form method="post" action="/auth?${escape(query)}"><input type="hidden" name="token" value="${escape(token)}">${content}</form>`
}

type Approval = { app: string; query: string; token: string; nonce: string }

export function signInPage({ app, query, token, nonce }: Approval, fault: string | undefined): string {
  const content = `<p><b>${escape(app)}</b> asks for a key of this gateway. Sign in with a key of your own, a management key or a
plain one. It is not kept, and the app does not see it.</p>
${fault === undefined ? "" : `<p class="fault" role="alert">${escape(fault)}</p>`}`
  const fields = `<label for="api_key">Your API key</label>
<input id="api_key" name="api_key" type="password" autocomplete="off" spellcheck="false" required autofocus>
<button name="deed" value="sign_in">Sign in</button>`
  return document("Sign in", nonce, content + form(query, token, fields))
}

export type Consent = Approval & {
  workspace: string
  signedInAs: string
  keyName: string
  callbackUrl: string
  facts: string[]
}

export function consentPage({ app, query, token, nonce, ...result }: Consent): string {
  const content = `<p><b>${escape(app)}</b> asks for a key of the workspace <b>${escape(result.workspace)}</b>. The key:</p>
<ul>${[...result.facts, `Will be named ${result.keyName}.`].map((fact) => `<li>${escape(fact)}</li>`).join("")}</ul>
<p class="note">It is sent to <code>${escape(result.callbackUrl)}</code>. You are signed in with the key
<code>${escape(result.signedInAs)}</code>.</p>`
  const buttons = `<button name="deed" value="approve">Allow</button><button name="deed" value="deny">Refuse</button>
<button name="deed" value="sign_out">Use another key</button>`
  return document(`Give ${app} a key?`, nonce, content + form(query, token, buttons))
}

export function faultPage(nonce: string, message: string): string {
  return document("This cannot be done", nonce, `<p class="fault" role="alert">${escape(message)}</p>`)
}
