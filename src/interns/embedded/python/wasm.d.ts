/** A compiled module, by wrangler's rule for this extension. */
declare module "*.wasm" {
  const module: WebAssembly.Module
  export default module
}
