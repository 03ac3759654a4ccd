// A text from the data on the page: only as text, with hidden characters drawn as their code point.

import css from './visible.module.css'
import { visibleParts } from './visible-text.ts'

/** Shows a text that others wrote. Line breaks are kept where the surrounding style keeps white space. */
export function Visible({ text }: { text: string }) {
  const parts = visibleParts(text)
  if (parts.length === 1 && parts[0] && 'text' in parts[0]) return parts[0].text
  let at = 0
  return parts.map(part => {
    const key = at
    at += 'text' in part ? part.text.length : 1
    return 'text' in part ? (
      part.text
    ) : (
      <span key={key} className={css.code} title="an invisible character">
        {part.code}
      </span>
    )
  })
}
