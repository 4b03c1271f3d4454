import { TextField } from "../../ui/field.tsx"

type Props = { url: string; onUrl: (url: string) => void; token: string; onToken: (token: string) => void }

/** The service that a directory is pulled from. */
export function PullFields({ url, onUrl, token, onToken }: Props) {
  return (
    <>
      <TextField
        label="SCIM base URL"
        placeholder="https://directory.example.com/scim/v2"
        value={url}
        onChange={onUrl}
        required
      />
      <TextField label="Bearer token" type="password" hint="Stored sealed." value={token} onChange={onToken} required />
    </>
  )
}
