/** What stands for an empty list, which keeps a key from the models of its workspace. */
export const NO_MODEL = "none"

/** Models to try over budget, as the form of a key has them. */
export function toModelText(models: readonly string[] | null): string {
  return models?.length === 0 ? NO_MODEL : (models ?? []).join(", ")
}

export function toModels(text: string): string[] | null {
  if (text.trim() === NO_MODEL) return []
  const names = text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "")
  return names.length > 0 ? names : null
}
