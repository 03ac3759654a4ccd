// Schemas of trees: the runs and events that a run or an event started.

import Type from 'typebox'
import { count, optionalText, text, timestamp } from '../wire/schema-parts.ts'
import { RunStatusSchema } from './run-schema.ts'

/** How the parent of a node of a tree made it. */
const TREE_RELATIONS = ['root', 'child', 'started', 'onFailure', 'cleanup', 'fork', 'trigger', 'emit'] as const

export const TreeNodeSchema = Type.Object({
  type: text('run', 'event'),
  id: Type.String({ description: 'Id of the run or the event' }),
  parentId: optionalText('Id of the node that started it; absent at the root'),
  depth: Type.Integer({ minimum: 0, description: '0 at the root' }),
  via: text(...TREE_RELATIONS),
  stepName: optionalText('The step of the parent that started the run or emitted the event'),
  name: optionalText('Name of the event'),
  workflow: optionalText('Workflow of the run'),
  app: optionalText('App of the run'),
  key: optionalText('The key with which the run was started directly'),
  status: Type.Optional(RunStatusSchema),
  createdAt: timestamp('When the run was accepted, or the event arrived'),
  startedAt: Type.Optional(timestamp()),
  finishedAt: Type.Optional(timestamp()),
  durationMs: Type.Optional(count()),
})

export const TreeSchema = Type.Object({
  nodes: Type.Array(TreeNodeSchema, { description: 'The root, then each level after the one above; at most 500' }),
  truncated: Type.Boolean({ description: 'The root started more than 8 levels or 500 nodes' }),
})
