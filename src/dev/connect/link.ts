import { type ClientName, CLIENTS, MAX_MODELS, setupOf } from "../../connect/clients.ts"
import { isObject, parseJson } from "../../support/text/json.ts"
import { Failure } from "../failure.ts"
import { editFiles } from "./edits.ts"
import { type Written, writeFiles } from "./files.ts"

/** A parsed one-time link: the gateway, the client to configure, and the token to redeem for the API key. */
export type Link = { origin: string; client: ClientName; token: string }

export function readLink(text: string): Link {
  // URL.parse is not in Node 20.
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined
  const [, name, token = ""] = /^\/connect\/(\w+)#([\w-]{43})$/.exec(`${url?.pathname}${url?.hash}`) ?? []
  const client = CLIENTS.find((one) => one === name)
  if (!url || !client) {
    throw new Failure("This is not a link of the gateway's console: https://gateway.example.com/connect/codex#…", 2)
  }
  return { origin: url.origin, client, token }
}

type Redeemed = { api_key: string; model: string; models: string[] }
export type ConnectResult = { client: ClientName; model: string; files: Written[]; steps: string[]; key: string }

/** Redeems a link and writes the configuration of its client. If a file cannot be edited, the link stays unused. */
export async function connectByLink(home: string, { origin, client, token }: Link): Promise<ConnectResult> {
  const base = `${origin}/api/v1`
  editFiles(client, { home, base, key: "", model: "", models: [] })
  const { api_key: key, model, models } = await redeem(base, token)
  const connection = { home, base, key, model, models: models.slice(0, MAX_MODELS) }
  const files = writeFiles(home, client, editFiles(client, connection))
  return { client, model, files, steps: setupOf(client, connection).steps, key }
}

async function redeem(base: string, token: string): Promise<Redeemed> {
  const response = await fetch(`${base}/connect-links/redeem`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token }),
    // A redirect would send the token to another host.
    redirect: "error",
  }).catch(() => undefined)
  if (!response) throw new Failure(`There is no gateway at ${base}, or it redirects elsewhere. The link is not used.`)
  const result: unknown = parseJson(await response.text())
  const data = isObject(result) && isObject(result["data"]) ? result["data"] : {}
  if (response.ok && isRedeemed(data)) return data
  const error = isObject(result) && isObject(result["error"]) ? result["error"] : {}
  const { message = `The gateway returned ${response.status}.` } = error
  throw new Failure(String(message))
}

function isRedeemed(data: object): data is Redeemed {
  return "api_key" in data && "model" in data && "models" in data && Array.isArray(data.models)
}

export function describeFiles(files: readonly Written[]): string[] {
  return files.map(({ path, backup }) => `wrote  ${path}${backup === null ? "" : `, backup: ${backup}`}`)
}
