// The completions of the box of qualifiers. Loaded when the box is used.

import { useRead } from '../../../data/queries.ts'
import { completionsOf } from './completions.ts'

export default function CompletionList({ id, text }: { id: string; text: string }) {
  const workflows = useRead('listWorkflows', {}, { staleMs: 30_000 }).data ?? []
  const known = { workflows: workflows.map(({ name }) => name), apps: workflows.map(({ app }) => app) }
  return (
    <datalist id={id}>
      {completionsOf(text, known).map(each => (
        <option key={each} value={each} />
      ))}
    </datalist>
  )
}
