// Changes of endpoints and receivers, and redeliveries: they need a secret key on an open engine too. The pages of webhooks say so
// before anything is pressed.

import { type Session, useSession, whyNoWrite } from '../../../session/session.ts'
import { Button, type ButtonProps } from '../../../ui/button.tsx'
import { Snippet } from '../../../ui/states/empty.tsx'
import { Panel } from '../../../ui/states/page.tsx'

/** Why nothing about webhooks can be changed now; undefined when it can be. */
export function whyNoKeyedWrite(session: Session): string | undefined {
  return session.whoami?.open ? 'needs a secret key, even on an open engine' : whyNoWrite(session)
}

/** A button for a change of webhooks. */
export function KeyedButton({ disabledBecause, ...rest }: ButtonProps) {
  return <Button {...rest} disabledBecause={whyNoKeyedWrite(useSession()) ?? disabledBecause} />
}

/** On an open engine: what the first key would change, and the command that makes it. */
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
