export type Params = Readonly<Record<string, string>>
export type PageProps = { params: Params }

/** A part that is not percent-encoded text, such as `100%` typed into the address bar, stays as it is. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** Matches `/models/:id*` and the like; a name with `*` matches the rest of the path. */
export function matchPath(pattern: string, pathname: string): Params | undefined {
  const names = pattern.split("/")
  const parts = (pathname === "/" ? "/" : pathname.replace(/\/$/, "")).split("/")
  const params: Record<string, string> = {}
  for (const [index, name] of names.entries()) {
    const part = parts[index]
    if (name.startsWith(":") && name.endsWith("*")) {
      if (part === undefined) return undefined
      params[name.slice(1, -1)] = parts.slice(index).map(decode).join("/")
      return params
    }
    if (part === undefined) return undefined
    if (name.startsWith(":")) params[name.slice(1)] = decode(part)
    else if (name !== part) return undefined
  }
  return parts.length === names.length ? params : undefined
}
