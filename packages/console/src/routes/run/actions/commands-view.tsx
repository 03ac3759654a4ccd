// The commands that do the same as an action or a page, to copy.

import { CopyButton } from '../../../ui/overlay/copy.tsx'
import type { Command } from '../model/commands.ts'
import css from './actions.module.css'

const CHARS_MAX = 2000

export function CommandsView({ command }: { command: Command }) {
  return (
    <details className={css.commands}>
      <summary>The same as a command</summary>
      {Object.entries(command).map(([tool, text]) => (
        <div key={tool} className={css.command}>
          <code>{text.length > CHARS_MAX ? `${text.slice(0, CHARS_MAX)}…` : text}</code>
          <CopyButton text={text} label={`Copy the ${tool} command`} />
        </div>
      ))}
    </details>
  )
}
