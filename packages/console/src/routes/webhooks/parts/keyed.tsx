// Changes of endpoints and receivers, and redeliveries: they need a secret key even on an open engine. The webhook pages say so
// before the user presses anything.

import { type Session, useSession, whyNoWrite } from '../../../session/session.ts'
import { Button, type ButtonProps } from '../../../ui/button.tsx'
import { Snippet } from '../../../ui/states/empty.tsx'
import { Panel } from '../../../ui/states/page.tsx'

/** Returns why webhooks cannot be changed now; undefined if they can. */
export function whyNoKeyedWrite(session: Session): string | undefined {
  return session.whoami?.open ? 'needs a secret key, even on an open engine' : whyNoWrite(session)
}

/** A button for a change of webhooks. */
export function KeyedButton({ disabledBecause, ...rest }: ButtonProps) {
  return <Button {...rest} disabledBecause={whyNoKeyedWrite(useSession()) ?? disabledBecause} />
}

/** On an open engine: explains what the first key would change, and shows the command that creates it. */
export function OpenEngineNote() {
  const { whoami } = useSession()
  if (!whoami?.open) return null
  return (
    <Panel title="This engine is open">
      <p>
        Endpoints, receivers and redeliveries still need a secret key. Creating the first key turns authentication on:
        every program and every runner then needs a key.
      </p>
      <Snippet text="perdure keys create --kind secret --label ops" />
    </Panel>
  )
}
