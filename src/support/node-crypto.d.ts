/**
 * The part of the runtime's Node compatibility that is used. All of `@types/node` would replace the types of timers.
 */
declare module "node:crypto" {
  export function createHash(algorithm: "sha256"): { update(text: string): { digest(encoding: "hex"): string } }
}
