type Resolution = { id: string; file: string; url: string } | null
type Transport = { resolveId: (id: string, importer?: string) => Promise<Resolution> }
type Mocker = { moduleRunner: { vitestOptions: { transport: Transport } } }

/**
 * The pool imports the Worker again for each request and each call of a Durable Object, and asks Vite in the main
 * process for the path each time. The answer is always the same, so the first one is kept.
 */
const { transport } = (globalThis as unknown as { __vitest_mocker__: Mocker }).__vitest_mocker__.moduleRunner
  .vitestOptions
const { resolveId } = transport
const known = new Map<string, Promise<Resolution>>()
transport.resolveId = (id, importer) => {
  if (importer !== undefined) return resolveId(id, importer)
  const resolution = known.get(id) ?? resolveId(id)
  known.set(id, resolution)
  return resolution
}
