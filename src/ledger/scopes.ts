export function workspaceScope(workspaceId: string): string {
  return `workspace:${workspaceId}`
}
