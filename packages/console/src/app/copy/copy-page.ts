// The commands for a whole page. Loaded when one is copied.

import { currentLocation } from '../../router/history.ts'
import { copyCommand } from '../../ui/overlay/copy-command.ts'
import { toast } from '../../ui/overlay/toasts.tsx'
import { callOf } from './page-call.ts'

/** Copies the command for the main read of the page, and names the filters that the command lacks. */
export async function copyPage(tool: 'perdure' | 'curl'): Promise<void> {
  const { match } = currentLocation()
  const found = match.kind === 'page' ? callOf(match) : undefined
  if (!found) {
    const isDraft = match.kind === 'page' && match.name === 'sendEvent'
    const hint = isDraft ? ': the commands are below the draft' : ''
    toast(`This page reads nothing from the engine${hint}`, { isError: true })
    return
  }
  await copyCommand(found.call, tool)
  if (found.missing.length > 0)
    toast(`The command leaves out ${found.missing.join(', ')}: only the console has this filter`)
}
