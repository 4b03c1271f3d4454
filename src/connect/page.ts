import { html, raw } from "hono/html"
import { alert, document, type Html } from "../http/page.ts"
import { type ClientName, type ClientSetup } from "./clients.ts"
import { linkCommand } from "./link.ts"

/** The pages behind a link. Opening one does not use the link: only submitting its form does. */

const NAMES: Record<ClientName, string> = {
  codex: "Codex",
  claude: "Claude Code",
  gemini: "Gemini CLI",
  opencode: "opencode",
  qwen: "Qwen Code",
  cursor: "Cursor",
}

/** The fragment reaches no server: the script inserts it into the command and the form. */
const SCRIPT = raw(`
  const token = /^#([\\w-]{43})$/.exec(location.hash)?.[1]
  const at = (id) => document.getElementById(id)
  const { origin, pathname } = location
  const [command, copy] = [at("command"), at("copy")]
  at(token === undefined ? "incomplete" : "ready").hidden = false
  at("token").value = token ?? ""
  if (command) {
    command.textContent = ${JSON.stringify(linkCommand("{origin}", "{link}"))}
      .replace("{origin}", origin).replace("{link}", origin + pathname + "#" + token)
    // Browsers have it only on https and localhost.
    copy.hidden = !navigator.clipboard
    copy.addEventListener("click", async () => {
      await navigator.clipboard.writeText(command.textContent)
      copy.textContent = "Copied"
    })
  }
  // The same page with another link.
  addEventListener("hashchange", () => location.reload())`)

const INCOMPLETE = "The address is not complete: the part after # is missing. Copy the complete link from the console."

export function linkPage(nonce: string, client: ClientName): Html {
  const name = NAMES[client]
  const content = html`<noscript
      >${alert("This page needs JavaScript. Run the command that the console shows.")}</noscript
    >
    <div id="incomplete" hidden>${alert(INCOMPLETE)}</div>
    <div id="ready" class="part" hidden>
      ${client === "cursor" ? "" : commandPart(name)}
      <form method="post" action="/connect/${client}">
        <input type="hidden" name="token" id="token" />
        <p>
          ${client === "cursor" ? "Its settings are changed in its window." : html`Without Node, or on Windows, write the settings by hand.`}
          Showing them uses the link.
        </p>
        <div class="buttons">
          <button ${client === "cursor" ? raw('value="approve"') : ""}>Show the settings</button>
        </div>
      </form>
      <p class="note">The link works once, for 15 minutes after it was created. Opening this page does not use it.</p>
    </div>
    <script nonce="${nonce}">
      ${SCRIPT}
    </script>`
  return document(`Connect ${name}`, nonce, content)
}

function commandPart(name: string): Html {
  return html`<p>
      Run this where you use ${name}. It needs Node 20 or newer, and keeps a backup of the settings that it changes.
    </p>
    <pre id="command" tabindex="0" role="region" aria-label="Command"></pre>
    <div class="buttons"><button type="button" id="copy" value="approve">Copy</button></div>`
}

export function settingsPage(nonce: string, client: ClientName, { files, steps }: ClientSetup): Html {
  const content = html`<p>The API key is in it and is shown only now. The link is used.</p>
    ${files.map(
      ({ path, edit }) =>
        html`<div class="part">
          <h2><code>${path}</code></h2>
          <pre tabindex="0" role="region" aria-label="${path}">${edit(undefined)}</pre>
        </div>`,
    )}
    <ul>
      ${steps.map((step) => html`<li>${step}</li>`)}
    </ul>
    ${files.length === 0 ? "" : html`<p class="note">Where a file exists, add these lines to it.</p>`}`
  return document(`Settings of ${NAMES[client]}`, nonce, content)
}

export function rejectionPage(nonce: string, message: string): Html {
  return document("This link does not work", nonce, alert(message))
}
