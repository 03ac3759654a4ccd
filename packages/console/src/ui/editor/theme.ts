// The look of the editor, based on the console's tokens. The shadow root inherits custom properties.

import { HighlightStyle } from '@codemirror/language'
import { EditorView } from '@codemirror/view'
import { tags } from '@lezer/highlight'

export const theme = EditorView.theme({
  '&': {
    minHeight: 'var(--editor-min-height, 0)',
    maxHeight: '40vh',
    border: '1px solid var(--border)',
    borderRadius: '6px',
    backgroundColor: 'var(--bg)',
    color: 'var(--fg)',
    fontSize: '12px',
  },
  '&.cm-focused': { outline: '2px solid var(--focus)', outlineOffset: '1px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '18px', overflow: 'auto' },
  '.cm-content': { caretColor: 'var(--fg)' },
  '.cm-cursor': { borderLeftColor: 'var(--fg)' },
  '.cm-gutters': { backgroundColor: 'var(--bg-raised)', color: 'var(--mute)', border: 'none' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--bg-selected)',
  },
  '.cm-specialChar': { color: 'var(--retrying)' },
})

export const highlighting = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--link)' },
  { tag: tags.string, color: 'var(--succeeded)' },
  { tag: tags.number, color: 'var(--paused)' },
  { tag: [tags.bool, tags.null], color: 'var(--mute)' },
])
