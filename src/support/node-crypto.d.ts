/** The used part of the runtime's Node compatibility. All of `@types/node` would replace the types of timers. */
declare module "node:crypto" {
  export function createHash(algorithm: "sha256"): { update(text: string): { digest(encoding: "hex"): string } }
}
