// An engine that was started held, and its release.

import { useWrite } from '../../data/write.ts'
import { ConfirmButton } from '../../ui/overlay/confirm-button.tsx'
import { toast, toastError } from '../../ui/overlay/toasts.tsx'
import { Panel } from '../../ui/states/page.tsx'

export function Held() {
  const release = useWrite('releaseEngine', ['getReadiness', 'listEngines'])
  const start = () => release.mutate({}, { onSuccess: () => toast('The engine is released'), onError: toastError })
  return (
    <Panel title="Held">
      <p>
        This engine answers requests and accepts events. It claims, fires and delivers nothing until it is released.
      </p>
      <ConfirmButton
        label="Release…"
        button={{ startsRuns: true }}
        title="Release the engine"
        action="Release"
        call={{ id: 'releaseEngine', input: {} }}
        onConfirm={start}
      >
        Due runs continue, schedules fire and webhooks are delivered. To hold the engine again, restart it.
      </ConfirmButton>
    </Panel>
  )
}
