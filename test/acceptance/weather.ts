/** The function that models of the tests may call, for every client. */

export const NAME = "weather"
export const DESCRIPTION = "The weather of a city."
export const PARAMETERS = {
  type: "object" as const,
  properties: { city: { type: "string" as const } },
  required: ["city"],
  additionalProperties: false as const,
}

export function weatherIn({ city }: { city: string }): string {
  return `Sunny in ${city}`
}

/** The models' response to it. */
export const QUESTION = "Paris"
export const ANSWER = "The tool answered: Sunny in Paris"

/** Authors with the same models, each behind a provider of another API format. */
export const AUTHORS = ["sim", "sim-responses", "sim-messages"] as const
