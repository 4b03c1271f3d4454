import { BASE, withParams } from "../api/client.ts"
import { useGet } from "../api/query.ts"
import type { List, Model } from "../api/types.ts"
import { Code, CopyButton } from "./text/code.tsx"

export const BASE_URL = `${location.origin}${BASE}`

export function BaseUrl() {
  return (
    <p class="row wrap">
      <span class="quiet">Base URL</span>
      <code>{BASE_URL}</code>
      <CopyButton text={BASE_URL} label="Copy the base URL" />
    </p>
  )
}

/** A call of the first model in the catalogue, to paste into a terminal. */
export function FirstCall() {
  const models = useGet<List<Model>>(withParams("/models", { limit: 1 }))
  const model = models.data?.data[0]?.id ?? "author/model"
  return (
    <div class="stack tight">
      <Code
        label="A call with curl"
        text={`curl -N ${BASE_URL}/chat/completions \\
  -H "Authorization: Bearer $GATEWAY_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"model":"${model}","messages":[{"role":"user","content":"Hello"}],"stream":true}'`}
      />
      <p class="quiet small">
        <code>GATEWAY_API_KEY</code> is an API key of this gateway: <code>. ./.dev.env</code> sets it after{" "}
        <code>npm start</code>.
      </p>
    </div>
  )
}
