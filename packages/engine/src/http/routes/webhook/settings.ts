// The routes that endpoints and receivers have in common: list, create, update and delete. Names every field that it passes on or
// shows: a reply never contains a stored secret.

import type { Operation } from '@perdure/protocol/operations'
import type { FastifyInstance } from 'fastify'
import { invariant } from '../../../domain/model/errors.ts'
import type { Actor } from '../../../services/commit/audit.ts'
import type { Saved } from '../../../services/webhook/versioned-resource.ts'
import type { HttpContext } from '../../access/context.ts'
import { type Handler, mount } from '../../access/mount.ts'
import { bodyOf } from '../../request/body.ts'
import { pathId } from '../../request/query.ts'
import { checkCharacters, checkName, validator } from '../../request/validate.ts'
import { sendJson } from '../../response/reply.ts'

interface Setting<Row, New, Edit> {
  noun: string
  operations: Record<'list' | 'create' | 'update' | 'remove', Operation>
  service: {
    list(namespace: string): readonly Row[]
    create(actor: Actor, fields: New): Promise<Saved<Row>>
    update(actor: Actor, id: string, edit: Edit): Promise<Saved<Row>>
    delete(actor: Actor, id: string): Promise<void>
  }
  /** Members of a create that are stored. */
  members: readonly (keyof New & string)[]
  /** Members that may be names, or null to remove them. */
  names: readonly string[]
  /** Members that an edit must not have, each with the reason. */
  fixed?: Record<string, string>
  /** Further checks that the schema cannot express. */
  check?(fields: New | Edit): void
  /** The rows of one namespace as replies show them, in their order. */
  present(namespace: string, rows: readonly Row[]): Promise<object[]>
}

export function mountSetting<Row, New extends object, Edit extends object>(
  app: FastifyInstance,
  context: HttpContext,
  setting: Setting<Row, New, Edit>,
): void {
  const { noun, service, members, present } = setting
  const presentSaved = async ({ namespace }: Actor, { saved, secret }: Saved<Row>) => {
    const [shown] = await present(namespace, [saved])
    return JSON.stringify({ ...shown, secret })
  }
  const { list, create, update, remove } = setting.operations
  const [newBody, editBody] = [bodyReader<New>(create), bodyReader<Edit>(update)]

  mount(app, context, list, async (request, reply) => {
    const { namespace } = request.actor
    return sendJson(reply, 200, JSON.stringify(await present(namespace, service.list(namespace))))
  })

  mount(app, context, create, async (request, reply) => {
    const fields = newBody(bodyOf(request)?.value)
    checkFields(setting, fields)
    checkCharacters('secret', (fields as { secret?: string }).secret)
    const saved = await service.create(request.actor, definedMembers(fields, members))
    return sendJson(reply, 201, await presentSaved(request.actor, saved))
  })

  const updateOne: Handler<Operation> = async (request, reply) => {
    const id = pathId(request, noun)
    const edit = editBody(bodyOf(request)?.value)
    checkFields(setting, edit)
    const saved = await service.update(request.actor, id, edit)
    return sendJson(reply, 200, await presentSaved(request.actor, saved))
  }
  const fixed = { ...setting.fixed, secret: 'cannot be set; rotateSecret makes a new one' }
  mount(app, context, update, updateOne, { fixed })

  mount(app, context, remove, async (request, reply) => {
    await service.delete(request.actor, pathId(request, noun))
    return reply.code(204).send()
  })
}

/** Checks a body against the operation's schema, whose checked value is a `T`. */
function bodyReader<T>({ body }: Operation): (value: unknown) => T {
  invariant(body, 'a create or update has a body')
  return validator(body.schema) as (value: unknown) => T
}

function checkFields<New, Edit>(
  { names, check }: Pick<Setting<never, New, Edit>, 'names' | 'check'>,
  fields: New | Edit,
): void {
  const values = fields as Record<string, string | null | undefined>
  for (const name of names) checkName(name, values[name] ?? undefined)
  check?.(fields)
}

function definedMembers<T extends object>(fields: T, names: readonly (keyof T)[]): T {
  const entries = names.map(name => [name, fields[name]]).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as T
}
