import path from "node:path"

export const root = path.join(import.meta.dirname, "../..")

/** What `npm run build` makes: the bundles, the console and the Worker's configuration. */
export const dist = path.join(root, "dist")
