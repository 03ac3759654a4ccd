// Opens the namespace of the URL: before anything is rendered, and again when the URL names another one. On the page of runs the
// first list is read at the same time, so that its rows wait for one answer of the engine, not for three in sequence.

import { readEarly } from '../data/queries.ts'
import { adoptToken, announce } from '../live/link.ts'
import { WAS_OPEN } from '../router/base.ts'
import { currentLocation } from '../router/history.ts'
import { listInput } from '../routes/runs/query.ts'
import { currentSession, openNamespace } from '../session/session.ts'
import { signedInNamespaces, tokenOf } from '../session/tokens.ts'

/** The live connection starts after the first list, which needs the processor. Pages that follow a topic start it at once. */
const CONNECT_AFTER_MS = 1000

let wanted: string | undefined

/** Opens a namespace, unless it is the one opened last. Without a name: one that this tab is signed in to. */
export function openOnce(namespace: string | undefined): void {
  const name = namespace ?? signedInNamespaces()[0] ?? 'default'
  if (name === wanted) return
  wanted = name
  void open(name).then(() => setTimeout(announce, CONNECT_AFTER_MS))
}

async function open(namespace: string): Promise<void> {
  if (WAS_OPEN || tokenOf(namespace) !== undefined) {
    const opened = openNamespace(namespace)
    readFirstList()
    await opened
    // In the meantime the engine got its first key: another tab may have a token.
    if (currentSession().status !== 'signed-out' || tokenOf(namespace) !== undefined) return
  }
  await adoptToken(namespace)
  if (namespace === wanted) await openNamespace(namespace)
}

/** A list with a window waits for the engine's clock. */
function readFirstList(): void {
  const { match } = currentLocation()
  if (match.kind !== 'page' || match.name !== 'runs' || match.query.has('since') || match.query.has('until')) return
  readEarly(
    'listRuns',
    listInput(name => match.query.get(name) ?? undefined),
  )
}
