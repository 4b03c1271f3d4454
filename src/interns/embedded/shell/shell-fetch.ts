export type ShellResponse = {
  status: number
  statusText: string
  headers: Record<string, string>
  body: Uint8Array
  url: string
}
/** Sends requests for `curl` and `git` in the shell. */
export type ShellFetch = (
  url: string,
  options?: {
    method?: string
    headers?: Headers | Record<string, string>
    body?: string | Uint8Array<ArrayBuffer>
    signal?: AbortSignal
    followRedirects?: boolean
  },
) => Promise<ShellResponse>
