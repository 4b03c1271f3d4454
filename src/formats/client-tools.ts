const CLIENT_TYPES = ["function", "custom", "namespace"]

/** A tool that the client runs. In the Messages format such a tool has no type. */
export function isClientTool(type: string | null | undefined): boolean {
  return type == null || CLIENT_TYPES.includes(type)
}
