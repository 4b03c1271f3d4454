/** Descriptions of fields for the API document, by name or by `Schema.name`. */
export type Descriptions = Readonly<Record<string, string>>
