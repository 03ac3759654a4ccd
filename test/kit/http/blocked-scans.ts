// A store in memory. Its scans begin when it is their turn, and end when the test lets them.

import { BatchQueue } from '../../../packages/engine/src/adapters/sql/batches/batch-queue.ts'
import { InlineChannel, type Server } from '../../../packages/engine/src/adapters/sql/batches/channel.ts'
import type { Query, Row } from '../../../packages/engine/src/adapters/sql/description/values.ts'
import { Connection } from '../../../packages/engine/src/adapters/sql/sqlite/connection.ts'
import { SqliteDatabase } from '../../../packages/engine/src/adapters/sql/sqlite/database.ts'
import { migrate } from '../../../packages/engine/src/adapters/sql/sqlite/migrations.ts'
import { Reader } from '../../../packages/engine/src/adapters/sql/sqlite/reader.ts'
import { Writer } from '../../../packages/engine/src/adapters/sql/sqlite/writer.ts'
import { SqlStore } from '../../../packages/engine/src/adapters/sql/store/sql-store.ts'

class BlockedDatabase extends SqliteDatabase {
  readonly #blocked: (() => void)[]

  constructor(connection: Connection, blocked: (() => void)[]) {
    const queue = (server: Server) => new BatchQueue(new InlineChannel(server), () => {})
    const reading = new Reader(connection)
    const reader = queue({ run: batch => reading.run(batch), close: () => {} })
    super({ writer: queue(new Writer(connection)), reader, openScanner: async () => reader, release: () => {} })
    this.#blocked = blocked
  }

  override async scan(queries: Query[]): Promise<Row[][]> {
    await new Promise<void>(resolve => this.#blocked.push(resolve))
    return super.scan(queries)
  }
}

/** `blocked` has an entry for each scan under way, which lets it continue. */
export async function blockedScans(): Promise<{ store: SqlStore; blocked: (() => void)[] }> {
  const connection = await Connection.open(':memory:', { readOnly: false })
  migrate(connection)
  const blocked: (() => void)[] = []
  return { store: new SqlStore(new BlockedDatabase(connection, blocked)), blocked }
}
