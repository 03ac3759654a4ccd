// An engine that was started held, and its release.

import { useState } from 'react'
import { useWrite } from '../../data/write.ts'
import { WriteButton } from '../../ui/button.tsx'
import { Confirm } from '../../ui/overlay/dialog.tsx'
import { toast, toastError } from '../../ui/overlay/toasts.tsx'
import { Panel } from '../../ui/states/page.tsx'

export function Held() {
  const [isAsking, setAsking] = useState(false)
  const release = useWrite('releaseEngine', ['getReadiness', 'listEngines'])
  const start = () => release.mutate({}, { onSuccess: () => toast('The engine is released'), onError: toastError })
  return (
    <Panel title="Held">
      <p>
        This engine answers requests and accepts events. It claims, fires and delivers nothing until it is released.
      </p>
      <WriteButton startsRuns onClick={() => setAsking(true)}>
        Release…
      </WriteButton>
      {isAsking && (
        <Confirm
          title="Release the engine"
          action="Release"
          call={{ id: 'releaseEngine', input: {} }}
          onConfirm={start}
          onClose={() => setAsking(false)}
        >
          Due runs continue, schedules fire and webhooks are delivered. To hold the engine again, restart it.
        </Confirm>
      )}
    </Panel>
  )
}
