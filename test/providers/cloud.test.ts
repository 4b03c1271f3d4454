import { generateKeyPairSync } from "node:crypto"
import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import type { Env } from "../../src/config/env.ts"
import { bedrockName } from "../../src/models/discovery/cloud-models.ts"
import { bedrockAccess } from "../../src/providers/cloud/bedrock.ts"
import { isRegionName, parseAwsCredential, parseServiceAccount } from "../../src/providers/cloud/credentials.ts"
import { accessTokenOf } from "../../src/providers/cloud/google-token.ts"
import { toVertexRequest, vertexAccess } from "../../src/providers/cloud/vertex.ts"
import { configuredProviders, reachableProviders } from "../../src/providers/configured.ts"
import type { Provider } from "../../src/providers/provider.ts"
import { toErrorResponse, toRejection } from "../../src/providers/responses/rejection.ts"
import { chatReader } from "../../src/formats/readers/chat.ts"

const env = (variables: Record<string, unknown>): Env => variables as unknown as Env
const pemOf = () =>
  generateKeyPairSync("rsa", { modulusLength: 2_048 }).privateKey.export({ type: "pkcs8", format: "pem" }).toString()
const ACCOUNT = {
  project_id: "acme",
  private_key: pemOf(),
  client_email: "gateway@acme.iam.gserviceaccount.com",
}
const json = JSON.stringify(ACCOUNT)
const ACCESS = { accessKeyId: "AKIDEXAMPLE0123456789", secretAccessKey: "secret-access-key-0123456789" }

describe("variables of cloud providers", () => {
  test.each([
    ["JSON", json],
    ["base64", Buffer.from(json).toString("base64")],
  ])("a service account as %s configures Google Vertex", (_, written) => {
    const variables = { GOOGLE_APPLICATION_CREDENTIALS_JSON: written, GOOGLE_CLOUD_LOCATION: "europe-west1" }
    const provider = configuredProviders(env(variables)).get("google-vertex")
    expect(provider).toMatchObject({ apiKey: written, cloud: { kind: "vertex", location: "europe-west1" } })
  })

  test("an access key configures Amazon Bedrock, and an API key takes precedence", () => {
    const access = { AWS_ACCESS_KEY_ID: ACCESS.accessKeyId, AWS_SECRET_ACCESS_KEY: ACCESS.secretAccessKey }
    const region = { AWS_REGION: "us-east-1" }
    const signing = configuredProviders(env({ ...access, ...region })).get("amazon-bedrock")
    expect(signing).toMatchObject({ format: "converse", baseUrl: "https://bedrock-runtime.us-east-1.amazonaws.com" })
    expect(parseAwsCredential(signing?.apiKey ?? "")).toMatchObject(ACCESS)
    const both = env({ ...access, ...region, AWS_BEARER_TOKEN_BEDROCK: "bedrock-key" })
    expect(configuredProviders(both).get("amazon-bedrock")?.apiKey).toBe("bedrock-key")
  })

  test("Bedrock's OpenAI-compatible URL uses the OpenAI format", () => {
    const url = "https://bedrock-runtime.us-west-2.amazonaws.com/openai/v1"
    const variables = { AWS_BEARER_TOKEN_BEDROCK: "k", AMAZON_BEDROCK_BASE_URL: url }
    expect(configuredProviders(env(variables)).get("amazon-bedrock")).toMatchObject({ format: "openai", baseUrl: url })
  })

  test.each([
    [
      { GOOGLE_APPLICATION_CREDENTIALS_JSON: "/home/ada/key.json" },
      /^GOOGLE_APPLICATION_CREDENTIALS_JSON: must be the JSON/,
    ],
    [{ GOOGLE_VERTEX_API_KEY: JSON.stringify({ ...ACCOUNT, private_key: undefined }) }, /private_key is missing\.$/],
    [{ AWS_ACCESS_KEY_ID: "AKID", AWS_REGION: "us-east-1" }, /AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY .* both/],
    [{ AWS_ACCESS_KEY_ID: "AKID", AWS_SECRET_ACCESS_KEY: "s" }, /AMAZON_BEDROCK_BASE_URL or AWS_REGION/],
    [{ AWS_BEARER_TOKEN_BEDROCK: "k", AWS_REGION: "evil.example/" }, /^AWS_REGION: must be the name of a region/],
    [{ GOOGLE_APPLICATION_CREDENTIALS_JSON: json, GOOGLE_TOKEN_URL: "nonsense" }, /^GOOGLE_TOKEN_URL: must be/],
  ])("%j is rejected with a hint", (variables, message) => {
    expect(() => configuredProviders(env(variables))).toThrow(message)
  })
})

const vertex = (apiKey: string, fields: Partial<Provider> = {}): Provider => {
  const provider = reachableProviders(env({})).get("google-vertex")
  if (!provider) throw new Error("Google Vertex cannot be reached.")
  return { ...provider, apiKey, ...fields }
}
const VERTEX = { kind: "vertex", project: undefined, location: undefined, tokenUrl: "x" } as const

describe("cloud provider URLs", () => {
  test.each([
    [undefined, "https://aiplatform.googleapis.com", "global"],
    ["europe-west4", "https://europe-west4-aiplatform.googleapis.com", "europe-west4"],
    ["eu", "https://aiplatform.eu.rep.googleapis.com", "eu"],
  ])("Vertex in %s is at %s", (region, origin, location) => {
    const access = vertexAccess(vertex(JSON.stringify({ ...ACCOUNT, region })), VERTEX)
    expect(access).toMatchObject({ origin, parent: `/v1/projects/acme/locations/${location}` })
  })

  test("a credential cannot select a host outside its cloud", () => {
    const text = fc.string({ maxLength: 60 })
    fc.assert(
      fc.property(text, (region) => {
        const credential = JSON.stringify({ ...ACCESS, region })
        const account = JSON.stringify({ ...ACCOUNT, region, project_id: region || "acme" })
        const bedrock = { ...vertex(credential), baseUrl: "https://bedrock-runtime.*.amazonaws.com" }
        const hosts = [
          () => bedrockAccess(bedrock, { kind: "bedrock", region: undefined }).origin,
          () => vertexAccess(vertex(account), VERTEX),
        ].flatMap((access) => {
          try {
            const found = access()
            return typeof found === "string" ? found : `${found.origin}${found.parent}`
          } catch {
            return []
          }
        })
        for (const host of hosts) {
          expect(new URL(host).hostname).toMatch(/^[a-z0-9.-]+\.(?:amazonaws|googleapis)\.com$/)
          expect(new URL(host).href.replace(/\/$/, "")).toBe(host)
        }
      }),
    )
    expect(isRegionName("a.b")).toBe(false)
  })

  test("a credential of another region than PROVIDER_REGIONS allows is rejected", () => {
    const elsewhere = JSON.stringify({ ...ACCESS, region: "us-east-1" })
    const provider = { ...vertex(elsewhere), baseUrl: "https://bedrock-runtime.eu-west-1.amazonaws.com" }
    const cloud = { kind: "bedrock", region: "eu-west-1" } as const
    expect(() => bedrockAccess({ ...provider, regions: ["europe"] }, cloud)).toThrow(/PROVIDER_REGIONS/)
    expect(bedrockAccess(provider, cloud).region).toBe("us-east-1")
    const account = JSON.stringify({ ...ACCOUNT, region: "us-central1" })
    expect(() => vertexAccess(vertex(account, { regions: ["europe"] }), VERTEX)).toThrow(/PROVIDER_REGIONS/)
  })

  test("Claude's model is part of the path and cannot escape it", () => {
    const request = {
      reader: chatReader,
      path: "/messages",
      body: { model: "claude-x/../../a?b", service_tier: "auto" },
    }
    const { path, body } = toVertexRequest(request, true)
    expect(path).toBe("/publishers/anthropic/models/claude-x%2F..%2F..%2Fa%3Fb:streamRawPredict")
    expect(body).toEqual({ anthropic_version: "vertex-2023-10-16" })
  })
})

test("secrets of a credential are redacted from a provider's error", () => {
  const secret = fc.string({ minLength: 12, maxLength: 40 }).filter((text) => text.trim() === text)
  fc.assert(
    fc.property(secret, secret, fc.string({ maxLength: 20 }), (secretAccessKey, sessionToken, around) => {
      const apiKey = JSON.stringify({ accessKeyId: "AKIDEXAMPLE0123456789", secretAccessKey, sessionToken })
      const text = `${around}${sessionToken}${around}${secretAccessKey}${around}${apiKey}`
      const { message } = toRejection({ name: "X", apiKey }, toErrorResponse({ status: 400, message: text }), {
        now: 0,
      })
      expect(message).not.toContain(sessionToken)
      expect(message).not.toContain("AKIDEXAMPLE0123456789")
    }),
  )
})

/** With a content-length header. */
function answered(body: object, status = 200): Response {
  const text = JSON.stringify(body)
  return new Response(text, { status, headers: { "content-length": String(text.length) } })
}

describe("access tokens of service accounts", () => {
  function tokenServer(seconds = 3_600) {
    let count = 0
    const deps = {
      tokenUrl: `https://${crypto.randomUUID()}.test/token`,
      now: () => 0,
      waitUntil: () => {},
      fetch: () => {
        count += 1
        return Promise.resolve(answered({ access_token: `token-${count}`, expires_in: seconds }))
      },
    }
    return { deps, requests: () => count }
  }
  const account = parseServiceAccount(json)

  test("are requested once for concurrent calls, and renewed shortly before they expire", async () => {
    const { deps, requests } = tokenServer()
    expect(await Promise.all([1, 2, 3].map(() => accessTokenOf(account, deps)))).toEqual(Array(3).fill("token-1"))
    expect(await accessTokenOf(account, { ...deps, now: () => 3_299_000 })).toBe("token-1")
    expect(await accessTokenOf(account, { ...deps, now: () => 3_301_000 })).toBe("token-2")
    expect(requests()).toBe(2)
  })

  test("are cached per key: the same account with another key gets a new one", async () => {
    const { deps } = tokenServer()
    expect(await accessTokenOf(account, deps)).toBe("token-1")
    const other = { ...account, private_key: pemOf() }
    expect(await accessTokenOf(other, deps)).toBe("token-2")
  })

  test("are requested again after a failure, and the error has only the provider's error code", async () => {
    const { deps } = tokenServer()
    const refused = { error: "invalid_grant", error_description: "Invalid JWT: eyJ…" }
    const refusing = { ...deps, fetch: () => Promise.resolve(answered(refused, 400)) }
    await expect(accessTokenOf(account, refusing)).rejects.toThrow(
      /^Google gave no access token for the service account: status 400 invalid_grant$/,
    )
    expect(await accessTokenOf(account, deps)).toBe("token-1")
  })

  test("fail for an invalid private key with an error that does not contain it", async () => {
    const { deps } = tokenServer()
    const wrong = { ...account, private_key: "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----" }
    await expect(accessTokenOf(wrong, deps)).rejects.toThrow(/^private_key of the service account is not a PKCS #8 key/)
  })
})

test.each([
  ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", "anthropic/claude-sonnet-4.5"],
  ["anthropic.claude-3-haiku-20240307-v1:0", "anthropic/claude-3-haiku"],
  ["anthropic.claude-opus-4-6-v1", "anthropic/claude-opus-4.6"],
  ["amazon.nova-pro-v1:0", "amazon/nova-pro-v1"],
  ["meta.llama3-3-70b-instruct-v1:0", "meta-llama/llama-3.3-70b-instruct"],
  ["openai.gpt-oss-120b-1:0", "openai/gpt-oss-120b"],
  ["us-gov.anthropic.claude-sonnet-4-20250514-v1:0", "anthropic/claude-sonnet-4"],
])("Bedrock's %s is %s in the catalogue", (id, name) => {
  expect(bedrockName(id)).toBe(name)
})
