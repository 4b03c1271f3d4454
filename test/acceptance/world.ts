import { OpenRouter } from "@openrouter/sdk"
import OpenAI from "openai"
import { expect, inject } from "vitest"

const gateway = inject("gateway")
/** Base URL for OpenAI clients; ends in `/v1`. */
export const gatewayUrl = gateway.url

export type Organization = { id: string; apiKey: string; managementKey: string }

/** A separate organization of the test. */
export async function newOrganization(): Promise<Organization> {
  const input = { name: "Test", starting_balance_usd: 100 }
  const { data } = (await ask(gateway.bootstrapKey, "POST", "/organizations", input)) as {
    data: { id: string; api_key: string; management_key: string }
  }
  return { id: data.id, apiKey: data.api_key, managementKey: data.management_key }
}

export async function newKey({ managementKey }: Organization, input: object): Promise<string> {
  const { key } = (await ask(managementKey, "POST", "/keys", { name: "test", ...input })) as { key: string }
  return key
}

export type Receipt = { ending: string; cancelled: boolean; tokens_completion: number; total_cost: number }

/** The charge of a call, by the id in its response. */
export async function receiptOf({ apiKey }: Organization, id: string): Promise<Receipt> {
  const { data } = (await ask(apiKey, "GET", `/generation?id=${id}`)) as { data: Receipt }
  return data
}

export async function usageOf({ apiKey }: Organization): Promise<number> {
  const { data } = (await ask(apiKey, "GET", "/key")) as { data: { usage: number } }
  return data.usage
}

async function ask(key: string, method: string, resource: string, body?: object): Promise<unknown> {
  const response = await fetch(`${gateway.url}${resource}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  expect(response.status, text).toBeLessThan(300)
  return JSON.parse(text)
}

/** The published clients, without the retries that would hide a failure. */
export function openai(apiKey: string): OpenAI {
  return new OpenAI({ baseURL: gateway.url, apiKey, maxRetries: 0, logLevel: "off" })
}

export function openrouter(apiKey: string): OpenRouter {
  return new OpenRouter({ serverURL: gateway.url, apiKey, retryConfig: { strategy: "none" } })
}
