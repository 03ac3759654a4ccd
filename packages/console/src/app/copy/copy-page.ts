// The commands for a whole page. Loaded when one is copied.

import { currentLocation } from '../../router/history.ts'
import { copyCommand } from '../../ui/overlay/copy-command.ts'
import { toast } from '../../ui/overlay/toasts.tsx'
import { callOf } from './page-call.ts'

/** Copies the command that reads what the page shows, and names the filters that it does not have. */
export async function copyPage(tool: 'perdure' | 'curl'): Promise<void> {
  const { match } = currentLocation()
  const found = match.kind === 'page' ? callOf(match) : undefined
  if (!found) {
    const isDraft = match.kind === 'page' && match.name === 'sendEvent'
    const hint = isDraft ? ': the commands that send the draft are below it' : ''
    toast(`This page reads nothing from the engine${hint}`, { isError: true })
    return
  }
  await copyCommand(found.call, tool)
  if (found.missing.length > 0)
    toast(`The command is without ${found.missing.join(', ')}: the console filters by that itself`)
}
