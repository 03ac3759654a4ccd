// A store in memory whose scans begin when they get their turn, and end when the test lets them.

import { BatchQueue } from '../../../packages/engine/src/adapters/sql/batches/batch-queue.ts'
import { InlineChannel, type Server } from '../../../packages/engine/src/adapters/sql/batches/channel.ts'
import type { Query, Row } from '../../../packages/engine/src/adapters/sql/description/values.ts'
import { Connection } from '../../../packages/engine/src/adapters/sql/sqlite/connection.ts'
import { SqliteDatabase } from '../../../packages/engine/src/adapters/sql/sqlite/database.ts'
import { migrate } from '../../../packages/engine/src/adapters/sql/sqlite/migrations.ts'
import { Reader } from '../../../packages/engine/src/adapters/sql/sqlite/reader.ts'
import { Writer } from '../../../packages/engine/src/adapters/sql/sqlite/writer.ts'
import { SqlStore } from '../../../packages/engine/src/adapters/sql/store/sql-store.ts'

class HeldDatabase extends SqliteDatabase {
  readonly #held: (() => void)[]

  constructor(connection: Connection, held: (() => void)[]) {
    const queue = (server: Server) => new BatchQueue(new InlineChannel(server), () => {})
    const reading = new Reader(connection)
    const reader = queue({ run: batch => reading.run(batch), close: () => {} })
    super({ writer: queue(new Writer(connection)), reader, openScanner: async () => reader, release: () => {} })
    this.#held = held
  }

  override async scan(queries: Query[]): Promise<Row[][]> {
    await new Promise<void>(resolve => this.#held.push(resolve))
    return super.scan(queries)
  }
}

/** `held` has an entry for each scan under way, which lets it go on. */
export async function heldScans(): Promise<{ store: SqlStore; held: (() => void)[] }> {
  const connection = await Connection.open(':memory:', { readOnly: false })
  migrate(connection)
  const held: (() => void)[] = []
  return { store: new SqlStore(new HeldDatabase(connection, held)), held }
}
