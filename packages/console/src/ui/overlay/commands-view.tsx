// The commands that do the same as an action or a page, to copy. Every dialog of an action shows them.

import { cutText } from '@perdure/protocol/portable'
import { useEffect, useState } from 'react'
import { type Call, type Command, commandsOf } from '../../data/commands/request.ts'
import css from './commands-view.module.css'
import { CopyButton } from './copy.tsx'

const CHARS_MAX = 2000

/** Returns the commands of calls, one line each; undefined until they are known. */
function useCommands(calls: readonly Call[]): Command | undefined {
  const [command, setCommand] = useState<Command>()
  const key = JSON.stringify(calls)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a call is a new object with every render; its text says whether it changed.
  useEffect(() => {
    let isOver = false
    void Promise.all(calls.map(commandsOf)).then(found => !isOver && setCommand(linesOf(found)))
    return () => {
      isOver = true
    }
  }, [key])
  return command
}

function linesOf(commands: readonly Command[]): Command {
  const words = commands.map(({ perdure }) => perdure)
  const curl = commands.map(each => each.curl).join('\n')
  return { ...(words.includes(undefined) ? {} : { perdure: words.join('\n') }), curl }
}

/** `call`: the calls of the action, in order if there are several. */
export default function CommandsView({ call }: { call: Call | readonly Call[] }) {
  const command = useCommands([call].flat())
  return (
    <details className={css.commands}>
      <summary>Show CLI / curl</summary>
      {Object.entries(command ?? {}).map(([tool, text]) => (
        <div key={tool} className={css.command}>
          <code>{cutText(text, CHARS_MAX, '…')}</code>
          <CopyButton text={text} label={`Copy ${tool} command`} />
        </div>
      ))}
    </details>
  )
}
