import { AwsV4Signer } from "aws4fetch"
import type { Outbound } from "../../outbound/send.ts"
import { toTimestamp } from "../../support/time/time.ts"
import type { ConfigOf } from "../kinds.ts"
import { toRow } from "../event.ts"
import { USER_AGENT, type Delivery } from "./delivery.ts"
import { appendPath } from "./spans.ts"

const DEFAULT_REGION = "us-east-1"

/** One object of JSON Lines, a line for each call. A retry overwrites the object. */
export async function toS3(config: ConfigOf<"s3">, { id, events, flags, now }: Delivery): Promise<Outbound> {
  const { region = DEFAULT_REGION, endpoint = `https://s3.${region}.amazonaws.com` } = config
  const path = [config.bucketName, ...keyOf(config, id, now).split("/")].map(encodeURIComponent).join("/")
  const body = events.map((event) => `${JSON.stringify(toRow(event, flags))}\n`).join("")
  const signer = new AwsV4Signer({
    method: "PUT",
    url: appendPath(endpoint, `/${path}`),
    headers: { ...config.headers, "content-type": "application/x-ndjson", "user-agent": USER_AGENT },
    body,
    accessKeyId: config.accessKeyId,
    secretAccessKey: config.secretAccessKey,
    ...(config.sessionToken !== undefined && { sessionToken: config.sessionToken }),
    service: "s3",
    region,
    datetime: toTimestamp(now).replace(/[:-]|\.\d{3}/g, ""),
  })
  const { url, headers } = await signer.sign()
  // The runtime sets the host header, which is signed.
  headers.delete("host")
  return { url: url.href, method: "PUT", headers: Object.fromEntries(headers), body }
}

/** Replaces `{prefix}`, `{date}`, `{year}`, `{month}`, `{day}` and `{hour}`; times are in UTC. */
function keyOf({ pathTemplate, prefix }: ConfigOf<"s3">, id: string, now: number): string {
  const at = toTimestamp(now)
  const parts: Record<string, string> = {
    prefix,
    date: at.slice(0, 10),
    year: at.slice(0, 4),
    month: at.slice(5, 7),
    day: at.slice(8, 10),
    hour: at.slice(11, 13),
  }
  const folder = pathTemplate.replace(/\{(\w+)\}/g, (placeholder, name: string) => parts[name] ?? placeholder)
  return `${folder}/${id}.ndjson`.replace(/\/{2,}/g, "/").replace(/^\//, "")
}
