// The members of a registered workflow that describe it to people and programs: its purpose, and the schema of its input
// (`docs/schemas.md#the-schema-at-the-engine`).

import Type from 'typebox'
import { DESCRIPTION_CHARS_MAX } from './bounds.ts'
import { optionalFlag } from './schema-parts.ts'

export const describedMembers = {
  description: Type.Optional(
    Type.String({
      maxLength: DESCRIPTION_CHARS_MAX,
      description: 'The purpose of the workflow, for people and assistants.',
    }),
  ),
  input: Type.Optional(
    Type.Unsafe<Record<string, unknown>>(
      Type.Unknown({
        description: 'JSON Schema (draft 2020-12) of `event.data`, at most 32 KiB. A direct start is validated by it.',
      }),
    ),
  ),
  tool: optionalFlag('The workflow is offered to assistants as a tool. It needs `input`.'),
}
