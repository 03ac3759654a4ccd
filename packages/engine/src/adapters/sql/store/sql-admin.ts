// API keys and namespaces on any SQL database. Part of the SQL store, and all that the `perdure` command opens.

import type { Namespace, StoredKey } from '../../../domain/model/api-key.ts'
import type { Admin } from '../../../ports/admin.ts'
import {
  KEY_COLUMNS,
  keyFromRow,
  keyRow,
  NAMESPACE_COLUMNS,
  namespaceFromRow,
  namespaceRow,
} from '../tables/admin.ts'
import type { Op, Row, Value } from '../tables/operations.ts'
import type { SqlDriver } from './driver.ts'

const SELECT_KEYS = `SELECT ${KEY_COLUMNS.join(', ')} FROM api_keys`
const SELECT_NAMESPACES = `SELECT ${NAMESPACE_COLUMNS.join(', ')} FROM namespaces`

export class SqlAdmin implements Admin {
  readonly #driver: Pick<SqlDriver, 'commit' | 'read'>

  constructor(driver: Pick<SqlDriver, 'commit' | 'read'>) {
    this.#driver = driver
  }

  async revision(): Promise<number> {
    const [row] = await this.#rows('SELECT revision FROM admin_revision')
    return row?.[0] as number
  }

  async keys(): Promise<StoredKey[]> {
    return (await this.#rows(`${SELECT_KEYS} ORDER BY id`)).map(keyFromRow)
  }

  addKey(key: StoredKey): Promise<void> {
    const { namespace: name, createdAt } = key
    return this.#write(
      ['namespace.insert', ...namespaceRow({ name, createdAt })],
      ['key.insert', ...keyRow(key)],
    )
  }

  async revokeKey(id: string, at: number): Promise<StoredKey | undefined> {
    await this.#write(['key.revoke', at, id])
    const [row] = await this.#rows(`${SELECT_KEYS} WHERE id = ?`, id)
    return row && keyFromRow(row)
  }

  async namespaces(): Promise<Namespace[]> {
    return (await this.#rows(`${SELECT_NAMESPACES} ORDER BY name`)).map(namespaceFromRow)
  }

  addNamespaces(names: readonly string[], at: number): Promise<void> {
    return this.#write(
      ...names.map((name): Op => ['namespace.insert', ...namespaceRow({ name, createdAt: at })]),
    )
  }

  async suspend(name: string, at: number): Promise<Namespace | undefined> {
    await this.#write(['namespace.suspend', at, name])
    return this.#namespace(name)
  }

  async resume(name: string): Promise<Namespace | undefined> {
    await this.#write(['namespace.resume', name])
    return this.#namespace(name)
  }

  async #namespace(name: string): Promise<Namespace | undefined> {
    const [row] = await this.#rows(`${SELECT_NAMESPACES} WHERE name = ?`, name)
    return row && namespaceFromRow(row)
  }

  async #write(...ops: Op[]): Promise<void> {
    await this.#driver.commit({ checks: [], ops: [...ops, ['admin.changed']] })
  }

  async #rows(sql: string, ...params: Value[]): Promise<Row[]> {
    const [rows] = await this.#driver.read([{ sql, params }])
    return rows as Row[]
  }
}
