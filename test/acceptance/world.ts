import { OpenRouter } from "@openrouter/sdk"
import OpenAI, { AzureOpenAI } from "openai"
import { expect, inject } from "vitest"

const gateway = inject("gateway")
/** Base URL for OpenAI clients; ends in `/v1`. */
export const gatewayUrl = gateway.url

export type Organization = { id: string; apiKey: string; managementKey: string }

/** A separate organization of the test. */
export async function newOrganization(): Promise<Organization> {
  const input = { name: "Test", starting_balance_usd: 100 }
  type Made = { data: { id: string; api_key: string; management_key: string } }
  const { data } = await request<Made>(gateway.bootstrapKey, "POST", "/organizations", { body: input })
  return { id: data.id, apiKey: data.api_key, managementKey: data.management_key }
}

export async function newKey({ managementKey }: Organization, input: object): Promise<string> {
  const body = { name: "test", ...input }
  return (await request<{ key: string }>(managementKey, "POST", "/keys", { body })).key
}

export type Receipt = { ending: string; cancelled: boolean; tokens_completion: number; total_cost: number }

/** The charge of a call, by the id in its response. */
export async function receiptOf({ apiKey }: Organization, id: string): Promise<Receipt> {
  return (await request<{ data: Receipt }>(apiKey, "GET", `/generation?id=${id}`)).data
}

export async function usageOf({ apiKey }: Organization): Promise<number> {
  return (await request<{ data: { usage: number } }>(apiKey, "GET", "/key")).data.usage
}

/** A request that must succeed. `url`: of another gateway than that of all tests. */
export async function request<T>(
  key: string,
  method: string,
  resource: string,
  { body, url = gateway.url }: { body?: object; url?: string } = {},
): Promise<T> {
  const response = await fetch(`${url}${resource}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  expect(response.status, text).toBeLessThan(300)
  return JSON.parse(text) as T
}

/** The published clients, without the retries that would hide a failure. */
export function openai(apiKey: string): OpenAI {
  return new OpenAI({ baseURL: gateway.url, apiKey, maxRetries: 0, logLevel: "off" })
}

/** Azure OpenAI's class of the same package, with the origin as its endpoint. */
export function azureOpenai(apiKey: string, deployment?: string): AzureOpenAI {
  return new AzureOpenAI({
    endpoint: new URL(gateway.url).origin,
    apiKey,
    apiVersion: "2025-04-01-preview",
    maxRetries: 0,
    logLevel: "off",
    ...(deployment !== undefined && { deployment }),
  })
}

export function openrouter(apiKey: string): OpenRouter {
  return new OpenRouter({ serverURL: gateway.url, apiKey, retryConfig: { strategy: "none" } })
}
