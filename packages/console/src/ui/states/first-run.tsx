// The commands for a first runner and a first run: those of the project that `npm create perdure` creates.

import { FIRST_EVENT } from '@perdure/protocol/first-run'
import { ENGINE_URL } from '../../router/base.ts'
import { Link } from '../../router/router.tsx'
import { useSession } from '../../session/session.ts'
import { Snippet } from './empty.tsx'

/**
 * The commands for a project with a workflow and its runner, started against this engine, and the event that starts the workflow.
 */
export function FirstRun() {
  return (
    <>
      <KeyNote kinds={['secret']} />
      <Snippet text={runnerCommands()} />
      <Snippet text={eventCommand(useIsOpen())} />
    </>
  )
}

/** Only the project and its runner. */
export function FirstRunner() {
  return (
    <>
      <KeyNote kinds={['runner', 'secret']} />
      <Snippet text={runnerCommands()} />
    </>
  )
}

/** Only the event. */
export function FirstEvent() {
  return (
    <>
      <KeyNote kinds={['event', 'secret']} />
      <Snippet text={eventCommand(useIsOpen())} />
    </>
  )
}

const runnerCommands = () =>
  `npm create perdure@latest my-app\ncd my-app && npm install\nENGINE_URL=${ENGINE_URL} npm start`

function eventCommand(isOpen: boolean): string {
  const key = isOpen ? '' : ' -H "authorization: Bearer $ENGINE_API_KEY"'
  const body = JSON.stringify(FIRST_EVENT)
  return `curl ${ENGINE_URL}/events${key} -H 'content-type: application/json' \\\n  -d '${body}'`
}

const useIsOpen = () => useSession().whoami?.open === true

/** On an engine with keys: says where the commands find one. */
function KeyNote({ kinds }: { kinds: readonly string[] }) {
  if (useIsOpen()) return null
  return (
    <p>
      This engine requires a key: first set <code>ENGINE_API_KEY</code> to a <code>{kinds.join(' or ')}</code> key.
      Create one under <Link target={{ to: 'keys' }}>keys</Link>.
    </p>
  )
}
