// The commands that do the same as an action or a page, to copy. Every dialog of an action shows them.

import { useEffect, useState } from 'react'
import { type Call, type Command, commandsOf } from '../../data/commands/request.ts'
import css from './commands-view.module.css'
import { CopyButton } from './copy.tsx'

const CHARS_MAX = 2000

/** The commands of a call; undefined until they are known. */
function useCommands(call: Call): Command | undefined {
  const [command, setCommand] = useState<Command>()
  const key = JSON.stringify(call)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a call is a new object with every render; its text says whether it changed.
  useEffect(() => {
    let isOver = false
    void commandsOf(call).then(found => !isOver && setCommand(found))
    return () => {
      isOver = true
    }
  }, [key])
  return command
}

export function CommandsView({ call }: { call: Call }) {
  const command = useCommands(call)
  return (
    <details className={css.commands}>
      <summary>The same as a command</summary>
      {Object.entries(command ?? {}).map(([tool, text]) => (
        <div key={tool} className={css.command}>
          <code>{text.length > CHARS_MAX ? `${text.slice(0, CHARS_MAX)}…` : text}</code>
          <CopyButton text={text} label={`Copy the ${tool} command`} />
        </div>
      ))}
    </details>
  )
}
