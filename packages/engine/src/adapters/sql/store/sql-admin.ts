// API keys and namespaces on any SQL database. Part of the SQL store; the `perdure` command opens this part alone.

import type { Namespace, StoredKey } from '../../../domain/model/api-key.ts'
import type { Admin } from '../../../ports/admin.ts'
import type { UnitRequest } from '../batches/requests.ts'
import type { Row, Value } from '../description/values.ts'
import { API_KEYS, NAMESPACES } from '../tables/admin.ts'
import { appendOperation, appendRow } from '../write/change-operations.ts'
import type { Database } from './database.ts'

const SELECT_KEYS = `SELECT ${API_KEYS.select} FROM api_keys`
const SELECT_NAMESPACES = `SELECT ${NAMESPACES.select} FROM namespaces`

export class SqlAdmin implements Admin {
  readonly #database: Pick<Database, 'writer' | 'read'>

  constructor(database: Pick<Database, 'writer' | 'read'>) {
    this.#database = database
  }

  async revision(): Promise<number> {
    const [row] = await this.#rows('SELECT revision FROM admin_revision')
    return row?.[0] as number
  }

  async keys(): Promise<StoredKey[]> {
    return (await this.#rows(`${SELECT_KEYS} ORDER BY id`)).map(API_KEYS.fromRow)
  }

  addKey(key: StoredKey): Promise<void> {
    const { namespace: name, createdAt } = key
    return this.#write(unit => {
      appendRow(unit, 'namespace.insert', NAMESPACES, { name, createdAt })
      appendRow(unit, 'key.insert', API_KEYS, key)
    })
  }

  async revokeKey(id: string, at: number): Promise<StoredKey | undefined> {
    await this.#write(unit => appendOperation(unit, 'key.revoke', at, id))
    const [row] = await this.#rows(`${SELECT_KEYS} WHERE id = ?`, id)
    return row && API_KEYS.fromRow(row)
  }

  async redeemCode(
    codeHash: string,
    { hash, expiresAt }: { hash: string; expiresAt: number },
    now: number,
  ): Promise<StoredKey | undefined> {
    await this.#write(unit => appendOperation(unit, 'code.redeem', hash, expiresAt, codeHash, now))
    const [row] = await this.#rows(`${SELECT_KEYS} WHERE hash = ?`, hash)
    return row && API_KEYS.fromRow(row)
  }

  dropExpired(before: number): Promise<void> {
    return this.#write(unit => appendOperation(unit, 'keys.drop', before))
  }

  async keysUsed(uses: readonly { id: string; at: number }[]): Promise<void> {
    const unit: UnitRequest = [0]
    for (const { id, at } of uses) appendOperation(unit, 'key.used', at, id)
    await this.#database.writer.submit(unit, { refusable: true })
  }

  async namespaces(): Promise<Namespace[]> {
    return (await this.#rows(`${SELECT_NAMESPACES} ORDER BY name`)).map(NAMESPACES.fromRow)
  }

  addNamespaces(names: readonly string[], at: number): Promise<void> {
    return this.#write(unit => {
      for (const name of names) appendRow(unit, 'namespace.insert', NAMESPACES, { name, createdAt: at })
    })
  }

  async suspend(name: string, at: number): Promise<Namespace | undefined> {
    await this.#write(unit => appendOperation(unit, 'namespace.suspend', at, name))
    return this.#namespace(name)
  }

  async resume(name: string): Promise<Namespace | undefined> {
    await this.#write(unit => appendOperation(unit, 'namespace.resume', name))
    return this.#namespace(name)
  }

  async #namespace(name: string): Promise<Namespace | undefined> {
    const [row] = await this.#rows(`${SELECT_NAMESPACES} WHERE name = ?`, name)
    return row && NAMESPACES.fromRow(row)
  }

  /** Raises the revision with every write, in the same commit. */
  async #write(append: (unit: UnitRequest) => void): Promise<void> {
    const unit: UnitRequest = [0]
    append(unit)
    appendOperation(unit, 'admin.changed')
    await this.#database.writer.submit(unit, { refusable: true })
  }

  async #rows(sql: string, ...params: Value[]): Promise<Row[]> {
    const [rows] = await this.#database.read([{ sql, params }])
    return rows as Row[]
  }
}
