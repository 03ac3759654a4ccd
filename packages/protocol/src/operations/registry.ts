// Runners and what they have registered (contract §4.3).

import Type from 'typebox'
import { AppSchema, RunnerSchema, WorkflowSchema } from '../api-schema.ts'
import { RegisterReplySchema, RegisterRequestSchema } from '../wire-schema.ts'
import { APP_PARAM, type Operation } from './operation.ts'

export const register = {
  id: 'register',
  method: 'POST',
  path: '/register',
  tag: 'registry',
  summary: 'Register a runner and its workflows; repeating it is the heartbeat',
  access: 'runner',
  body: { schema: RegisterRequestSchema, required: true },
  reply: { status: 200, description: 'Registered', schema: RegisterReplySchema },
  errors: ['protocol_mismatch'],
} as const satisfies Operation

export const listApps = {
  id: 'listApps',
  method: 'GET',
  path: '/apps',
  tag: 'registry',
  summary: 'List apps by name',
  access: 'read',
  reply: { status: 200, description: 'Every app', schema: Type.Array(AppSchema) },
  errors: [],
} as const satisfies Operation

export const listRunners = {
  id: 'listRunners',
  method: 'GET',
  path: '/runners',
  tag: 'registry',
  summary: 'List runners, those that went silent included',
  access: 'read',
  query: { app: APP_PARAM },
  reply: { status: 200, description: 'Every runner', schema: Type.Array(RunnerSchema) },
  errors: [],
} as const satisfies Operation

export const listWorkflows = {
  id: 'listWorkflows',
  method: 'GET',
  path: '/workflows',
  tag: 'registry',
  summary: 'List workflow definitions',
  access: 'read',
  query: { app: APP_PARAM },
  reply: { status: 200, description: 'Every workflow', schema: Type.Array(WorkflowSchema) },
  errors: [],
} as const satisfies Operation
