import { useRef, useState } from "preact/hooks"
import { ApiError } from "../../api/client.ts"

export type Submit = { busy: boolean; error: ApiError | undefined; submit: (event?: Event) => void }

/** The change of a form: one at a time, however often it is submitted. Its error stays until the next. */
export function useSubmit(change: () => Promise<unknown>): Submit {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<ApiError>()
  const isRunning = useRef(false)
  const run = async () => {
    if (isRunning.current) return
    isRunning.current = true
    setBusy(true)
    setError(undefined)
    try {
      await change()
    } catch (thrown) {
      setError(ApiError.fromThrown(thrown))
    }
    isRunning.current = false
    setBusy(false)
  }
  return {
    busy,
    error,
    submit: (event) => {
      event?.preventDefault()
      void run()
    },
  }
}
