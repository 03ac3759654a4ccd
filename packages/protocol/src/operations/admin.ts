// Operations of the caller itself, its sessions, and the API keys of its namespace.

import * as api from '../api/schema.ts'
import { control as queries } from '../queries/control.ts'
import { created, GUARDED_WEBHOOK, type Operation, ok, page } from './operation.ts'
import { WHOAMI } from './samples.ts'

const KEY = {
  id: 'key_01JD90H2C5E8G1J4M7P0S3V6YB',
  label: 'deploys',
  kind: 'runner',
  source: 'store',
  createdAt: '2025-03-01T09:00:00.000Z',
} as const
const SESSION = {
  token: 'pdk_session_...',
  namespace: 'default',
  kind: 'read',
  label: 'console: ops',
  expiresAt: '2025-03-01T21:00:00.000Z',
} as const

export const admin = {
  whoami: {
    method: 'GET',
    path: '/whoami',
    summary: 'Read what the caller may do, and what the engine is',
    access: 'read',
    unlogged: true,
    reply: ok('The caller and the engine', api.WhoamiSchema),
    examples: [{ summary: 'Without keys, on this machine', reply: WHOAMI }],
  },

  openSession: {
    method: 'POST',
    path: '/session',
    summary: 'Exchange an API key, or a code, for a token that expires',
    description:
      'The key is in the body, or in `Authorization` if the body has neither key nor code. The token gives no more than the key: its namespace, and the kind asked for, `read` by default. It ends with the key, at `expiresAt`, or by `DELETE /session`.',
    access: 'public',
    body: { schema: api.OpenSessionSchema, required: false },
    reply: created('The session', api.SessionSchema),
    errors: ['unauthorized', 'forbidden', 'rate_limited'],
    examples: [{ summary: 'Sign in to read', body: { key: 'pdk_secret_...' }, reply: SESSION }],
  },

  endSession: {
    method: 'DELETE',
    path: '/session',
    summary: 'End the session whose token is sent',
    access: 'read',
    reply: { status: 204, description: 'The token is no longer valid' },
    errors: ['conflict'],
    examples: [{ summary: 'Sign out' }],
  },

  makeSessionCode: {
    method: 'POST',
    path: '/session/codes',
    ...GUARDED_WEBHOOK,
    summary: 'Make a code that opens one session, once, within a minute',
    body: { schema: api.MakeSessionCodeSchema, required: false },
    reply: created('The code', api.SessionCodeSchema),
    examples: [
      {
        summary: 'A code for the console',
        body: { kind: 'read' },
        reply: { code: 'pdk_code_...', expiresAt: '2025-03-01T09:01:00.000Z' },
      },
    ],
  },

  listApiKeys: {
    method: 'GET',
    path: '/keys',
    summary: 'List the API keys of the namespace, without the keys themselves',
    access: 'secret',
    query: queries.listApiKeys,
    reply: page('The keys: those of the settings, then those of the store, oldest first', api.ApiKeySchema),
    errors: ['invalid_cursor'],
    examples: [{ summary: 'Every key', reply: [KEY] }],
  },

  createApiKey: {
    method: 'POST',
    path: '/keys',
    ...GUARDED_WEBHOOK,
    summary: 'Make an API key of the namespace, which may expire',
    description: 'The first key of an engine is made by `perdure keys create`: with it the engine stops being open.',
    body: { schema: api.CreateApiKeySchema, required: true },
    reply: created('The key, which no other reply shows', api.ApiKeyWithSecretSchema),
    errors: ['conflict'],
    examples: [
      {
        summary: 'A key for a runner',
        body: { kind: 'runner', label: 'deploys' },
        reply: { ...KEY, key: 'pdk_runner_...' },
      },
      {
        summary: 'A key that expires',
        body: { kind: 'read', label: 'audit of May', expiresAt: '2099-06-01T00:00:00Z' },
        reply: {
          ...KEY,
          ...{ kind: 'read', label: 'audit of May', expiresAt: '2099-06-01T00:00:00.000Z' },
          key: 'pdk_read_...',
        },
      },
    ],
  },

  revokeApiKey: {
    method: 'DELETE',
    path: '/keys/{id}',
    ...GUARDED_WEBHOOK,
    summary: 'Revoke an API key of the store and the sessions that it opened',
    description:
      'Every engine refuses it within 2 s. Revoking it again changes nothing. A key of the settings is removed there.',
    reply: { status: 204, description: 'The key is revoked' },
    errors: ['not_found'],
    examples: [{ summary: 'Revoke a key', path: { id: KEY.id } }],
  },
} as const satisfies Record<string, Operation>
