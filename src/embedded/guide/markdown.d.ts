/** Bundled as text: a rule of wrangler.toml, and a plugin of the tests. */
declare module "*.md" {
  const text: string
  export default text
}
