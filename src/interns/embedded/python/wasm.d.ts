/** A compiled module: the rule of wrangler for the ending. */
declare module "*.wasm" {
  const module: WebAssembly.Module
  export default module
}
