/** Settings of a cloud in addition to a base URL. Requests are signed, or have a token that is exchanged for a key. */
export type Cloud =
  | { kind: "bedrock"; region: string | undefined }
  | { kind: "vertex"; project: string | undefined; location: string | undefined; tokenUrl: string }

/** Variables of clouds, the first that is set wins. */
export const BEDROCK_REGIONS = ["AWS_REGION", "AWS_DEFAULT_REGION"]
export const ACCESS_KEY = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"]
export const VERTEX_PROJECTS = ["GOOGLE_CLOUD_PROJECT", "GOOGLE_VERTEX_PROJECT"]
export const VERTEX_LOCATIONS = ["GOOGLE_CLOUD_LOCATION", "GOOGLE_VERTEX_LOCATION"]
export const TOKEN_URL = "GOOGLE_TOKEN_URL"

/**
 * The credential of a cloud cannot be used. The message is for the owner and contains no part of the credential.
 */
export class CredentialError extends Error {}
