// Copies the command that does the same as a call. The code that creates commands is loaded when one is copied.

import type { Call } from '../../data/commands/request.ts'
import { copyText } from './copy.tsx'
import { toast } from './toasts.tsx'

/** Copies the command of a tool, and shows a message. */
export async function copyCommand(call: Call, tool: 'perdure' | 'curl'): Promise<void> {
  const { commandsOf } = await import('../../data/commands/request.ts')
  const text = (await commandsOf(call))[tool]
  if (text === undefined) toast('No perdure command does this: copy it as curl', { isError: true })
  else await copyText(text, 'Command copied')
}
