import type { GitHttpRequest, GitHttpResponse } from "isomorphic-git"
import { concat } from "../../../support/bytes.ts"
import type { ShellFetch } from "../shell/shell-fetch.ts"

/** Sends git's requests like those of `curl`: placeholders of secrets are replaced by values for their hosts. */
export function gitHttp(fetch: ShellFetch, signal: AbortSignal | undefined, extraHeaders: Record<string, string>) {
  const request = async ({ url, method = "GET", headers, body }: GitHttpRequest): Promise<GitHttpResponse> => {
    const sent = body ? new Uint8Array(await collect(body)) : undefined
    const response = await fetch(url, {
      method,
      headers: { ...headers, ...extraHeaders },
      ...(sent && { body: sent }),
      ...(signal && { signal }),
      followRedirects: method === "GET",
    })
    return {
      url: response.url,
      method,
      headers: response.headers,
      body: pieces(response.body),
      statusCode: response.status,
      statusMessage: response.statusText,
    }
  }
  return { request }
}

async function collect(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return concat(chunks)
}

async function* pieces(bytes: Uint8Array): AsyncIterableIterator<Uint8Array> {
  yield await Promise.resolve(bytes)
}
