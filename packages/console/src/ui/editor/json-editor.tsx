// A text editor for JSON: CodeMirror inside a shadow root, where it can add its styles as adopted sheets, which the
// Content-Security-Policy allows. It is large, so pages load it lazily.

import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { json } from '@codemirror/lang-json'
import { bracketMatching, defaultHighlightStyle, foldGutter, syntaxHighlighting } from '@codemirror/language'
import { EditorState } from '@codemirror/state'
import { drawSelection, EditorView, highlightSpecialChars, keymap, lineNumbers } from '@codemirror/view'
import { useEffect, useRef } from 'react'
import css from './json-editor.module.css'
import { highlighting, theme } from './theme.ts'

export interface JsonEditorProps {
  /** The initial text; later changes of it are ignored. */
  text: string
  /** Shown above it. */
  label: string
  onChange(text: string): void
}

export default function JsonEditor({ text, label, onChange }: JsonEditorProps) {
  const host = useRef<HTMLDivElement>(null)
  const listener = useRef(onChange)
  listener.current = onChange
  const first = useRef(text)
  useEffect(() => {
    const element = host.current
    if (!element) return
    const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' })
    const view = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: first.current,
        extensions: [
          lineNumbers(),
          foldGutter(),
          history(),
          drawSelection(),
          highlightSpecialChars(),
          bracketMatching(),
          json(),
          syntaxHighlighting(highlighting),
          syntaxHighlighting(defaultHighlightStyle, { fallback: true }),
          theme,
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ 'aria-label': label }),
          keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
          EditorView.updateListener.of(update => {
            if (update.docChanged) listener.current(update.state.doc.toString())
          }),
        ],
      }),
    })
    view.focus()
    return () => view.destroy()
  }, [label])
  return (
    <div>
      {/* Its content has the same name for screen readers. */}
      <p className={css.label} aria-hidden="true">
        {label}
      </p>
      <div ref={host} />
    </div>
  )
}
