import path from "node:path"
import { readEnvFile } from "./start/dev-vars.ts"
import { Failure } from "./failure.ts"
import { root } from "./options.ts"
import { isObject } from "../support/text/json.ts"

type Keys = Readonly<Record<"operator" | "manager" | "client", string | undefined>>

/** Client of the gateway's public API with the keys that commands use. */
export class Api {
  readonly #url: string
  readonly #keys: Keys

  constructor(url: string, keys: Keys) {
    this.#url = url
    this.#keys = keys
  }

  get url(): string {
    return this.#url
  }

  get hasOperatorKey(): boolean {
    return Boolean(this.#keys.operator)
  }

  /** The key for model calls. */
  get clientKey(): string {
    const { client } = this.#keys
    if (client) return client
    throw new Failure("Set GATEWAY_API_KEY in the environment, or pass --key-file FILE.", 2)
  }

  /** With a key that the user named. */
  async with<T>(key: string, method: string, resource: string, body?: unknown): Promise<T> {
    return this.#read<T>(await this.#request(key, method, resource, body))
  }

  /** With the deployment's bootstrap key, or the management key of an organization. */
  async as<T>(role: "operator" | "manager", method: string, resource: string, body?: unknown): Promise<T> {
    return this.#read<T>(await this.#request(this.#keyOf(role), method, resource, body))
  }

  async bytes(role: "operator" | "manager", resource: string): Promise<ReadableStream<Uint8Array>> {
    const { body } = await this.#request(this.#keyOf(role), "GET", resource)
    if (!body) throw new Failure("The gateway returned no body.")
    return body
  }

  async open<T>(resource: string): Promise<T> {
    return this.#read<T>(await this.#request(undefined, "GET", resource))
  }

  async #read<T>(response: Response): Promise<T> {
    const result: unknown = await response.json().catch(() => undefined)
    if (result === undefined)
      throw new Failure(`The server at ${this.#url} is not a gateway: its response is not JSON.`, 2)
    return result as T
  }

  /** Commands for an organization prefer its management key. */
  #keyOf(role: "operator" | "manager"): string {
    const { operator, manager } = this.#keys
    const key = role === "operator" ? operator : (manager ?? operator)
    if (key) return key
    const name = role === "operator" ? "BOOTSTRAP_MANAGEMENT_KEY" : "GATEWAY_MANAGEMENT_KEY"
    throw new Failure(`Set ${name} in the environment: this command needs it.`, 2)
  }

  async #request(key: string | undefined, method: string, resource: string, body?: unknown): Promise<Response> {
    const response = await fetch(`${this.#url}${resource}`, {
      method,
      headers: {
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    }).catch(() => undefined)
    if (!response)
      throw new Failure(`There is no gateway at ${this.#url}. Start it (npm start), or set GATEWAY_URL.`, 2)
    if (response.ok) return response
    const result: unknown = await response.json().catch(() => undefined)
    const error = isObject(result) && isObject(result["error"]) ? result["error"] : {}
    const { message = `The gateway returned ${response.status}.` } = error
    throw new Failure(String(message))
  }
}

/**
 * The gateway in the environment, otherwise the one that `npm start` runs here. Keys are never arguments, which all
 * users of the machine can see.
 */
export function openApi(url: string | undefined): Api {
  const files = { ...readEnvFile(path.join(root, ".dev.vars")), ...readEnvFile(path.join(root, ".dev.env")) }
  const found = url ?? process.env["GATEWAY_URL"] ?? files["GATEWAY_URL"]
  if (!found) throw new Failure("Start the gateway first (npm start), or set GATEWAY_URL.", 2)
  const base = found.replace(/\/+$/, "")
  // The keys of the local gateway are not sent to any other.
  const local = base === files["GATEWAY_URL"] ? files : {}
  const keyOf = (name: string) => process.env[name] || local[name]
  return new Api(base.endsWith("/api/v1") ? base : `${base}/api/v1`, {
    operator: keyOf("BOOTSTRAP_MANAGEMENT_KEY"),
    manager: keyOf("GATEWAY_MANAGEMENT_KEY"),
    client: keyOf("GATEWAY_API_KEY"),
  })
}
