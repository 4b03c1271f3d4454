import "./interns.css"
import { Field } from "../../ui/field.tsx"

export type EncodedFile = { path: string; content: string; encoding: "base64" }

/** Initial files of an intern, stored by name in its folder. */
export function FileField({ onChange }: { onChange: (files: Promise<EncodedFile[]>) => void }) {
  return (
    <Field label="Files" hint="AGENTS.md and other files for its folder. At most 512 KiB in total.">
      {(control) => (
        <input
          {...control}
          class="input file"
          type="file"
          multiple
          onChange={({ currentTarget }) => {
            const files = Promise.all([...(currentTarget.files ?? [])].map(read))
            // The form reports it when it is sent.
            files.catch(() => {})
            onChange(files)
          }}
        />
      )}
    </Field>
  )
}

async function read(file: File): Promise<EncodedFile> {
  const bytes = new Uint8Array(await file.arrayBuffer())
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")
  return { path: file.name, content: btoa(binary), encoding: "base64" }
}
